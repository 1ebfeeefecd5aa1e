// What the scripts of the project's pages have in common. Texts of samples are only ever set as text
// (textContent, append): nothing in them is read as markup.
export const byId = (id) => document.getElementById(id);

export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Places in a text count characters on the wire, and UTF-16 units here.
export const toPoints = (text, units) => [...text.slice(0, units)].length;
export const toUnits = (text, points) => [...text].slice(0, points).join("").length;
