// Files of samples: CSV and JSON Lines in, verdicts as CSV and JSON Lines out. Nothing here touches the page.
const WANTED = ["document", "answer"];
const TAKEN = ["document", "answer", "question", "task", "language", "id"];
const SHOWN_PROBLEMS = 5;

// The rows of a CSV text as lists of cells, each with the line it starts on. Quoted cells may hold anything.
export function parseCsv(text, separator) {
  const found = [];
  let cells = [], cell = "", quoted = false, line = 1, start = 1;
  for (let at = 0; at <= text.length; at++) {
    const letter = at < text.length ? text[at] : "\n";
    if (letter === "\n") line++;
    if (quoted) {
      if (at === text.length) throw new Error(`Line ${start} opens a quotation mark that nothing closes.`);
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[at++];
      else quoted = false;
    } else if (letter === '"' && !cell) {
      quoted = true;
    } else if (letter === separator || letter === "\n") {
      cells.push(cell.endsWith("\r") && letter === "\n" ? cell.slice(0, -1) : cell);
      cell = "";
      if (letter === "\n") {
        if (cells.length > 1 || cells[0]) found.push({ line: start, cells });
        cells = [];
        start = line;
      }
    } else {
      cell += letter;
    }
  }
  return found;
}

function fromCsv(text) {
  const head = text.slice(0, text.indexOf("\n") + 1 || text.length);
  const separator = [",", ";", "\t"].sort((one, two) => head.split(two).length - head.split(one).length)[0];
  const [header, ...rows] = parseCsv(text, separator);
  if (!header) return [];
  const names = header.cells.map((name) => name.trim().toLowerCase());
  return rows.map(({ line, cells }) => {
    if (cells.length > names.length) throw new Error(`Line ${line} has more cells than the header.`);
    return { line, values: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""])) };
  });
}

function fromJsonl(text) {
  return text.split("\n").flatMap((content, at) => {
    if (!content.trim()) return [];
    let values;
    try {
      values = JSON.parse(content);
    } catch {
      throw new Error(`Line ${at + 1} is not JSON.`);
    }
    if (!values || typeof values !== "object" || Array.isArray(values)) throw new Error(`Line ${at + 1} is not a JSON object.`);
    return [{ line: at + 1, values }];
  });
}

const isText = (value) => typeof value === "string" && value.trim() !== "";

function problemOf(values) {
  for (const name of WANTED) {
    if (!(name in values)) return `has no ${name} (it has: ${Object.keys(values).slice(0, 8).join(", ")})`;
    const texts = name === "document" && Array.isArray(values[name]) ? values[name] : [values[name]];
    if (!texts.length || !texts.every(isText)) return `has an empty ${name}, or one that is no text`;
  }
  return null;
}

// The samples of a file. Whatever is wrong is told before anything is sent.
export function readSamples(name, text) {
  const plain = text.replace(/^\ufeff/, "");
  const rows = plain.trimStart().startsWith("{") && !/\.(csv|tsv)$/i.test(name) ? fromJsonl(plain) : fromCsv(plain);
  if (!rows.length) throw new Error("The file holds no row.");
  const problems = rows.flatMap(({ line, values }) => {
    const problem = problemOf(values);
    return problem ? [`Line ${line} ${problem}.`] : [];
  });
  if (problems.length) {
    const more = problems.length - SHOWN_PROBLEMS;
    throw new Error([...problems.slice(0, SHOWN_PROBLEMS), ...(more > 0 ? [`And ${more} lines more.`] : [])].join(" "));
  }
  return rows.map(({ values }, at) => {
    const sample = Object.fromEntries(TAKEN.filter((key) => values[key] != null && values[key] !== "").map((key) => [key, values[key]]));
    return { ...sample, id: String(sample.id ?? `row-${at + 1}`) };
  });
}

export const sizeOf = (sample) => [sample.document].flat().join("").length + sample.answer.length + (sample.question || "").length;

export const toJsonl = (verdicts) => verdicts.map((verdict) => JSON.stringify(verdict) + "\n").join("");

// A cell that a spreadsheet would take for a formula stays a text.
const cellOf = (value) => {
  const text = value == null ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export function toCsv(verdicts) {
  const lines = verdicts.map((verdict, at) => [at + 1, verdict.id, verdict.label, verdict.p_fail, verdict.error]);
  return [["row", "id", "label", "p_fail", "error"], ...lines].map((cells) => cells.map(cellOf).join(",") + "\r\n").join("");
}
