// Elements are made here and nowhere else: texts go in as text, so nothing in the data is ever read as HTML.
const byId = (id) => document.getElementById(id);

function make(space, tag, attributes, children) {
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}
const el = (tag, attributes, ...children) => make("http://www.w3.org/1999/xhtml", tag, attributes, children);
const svg = (tag, attributes, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);

const percent = (share) => (share === null ? "-" : (100 * share).toFixed(1));
const signed = (share) =>
  share === null ? "-" : (share < 0 ? "\u2212" : "+") + Math.abs(100 * share).toFixed(1);
const count = (number) => number.toLocaleString("en");

const LABELS = { P: "PASS", F: "FAIL", U: "not parsed" };
const tag = (code, said) => el("span", { class: `tag ${code}` }, `${said} ${LABELS[code]}`);

function options(select, values, every) {
  const chosen = select.value;
  select.replaceChildren(
    el("option", { value: "" }, every),
    ...values.map((value) => el("option", { value }, value)),
  );
  select.value = values.includes(chosen) ? chosen : "";
}
