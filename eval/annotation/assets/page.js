import { byId, el, toPoints, toUnits } from "./common.js";

const TEXTS = { unsupported: "answer", evidence: "document" }; // kind of mark to where it is made

const ARROWS = {
  ArrowRight: ["forward", "word"],
  ArrowLeft: ["backward", "word"],
  ArrowDown: ["forward", "line"],
  ArrowUp: ["backward", "line"],
};

let work = null; // title, samples, types, annotators
let who = ""; // the annotator
let labels = []; // of each sample: what was said of it, or null
let number = 0; // the sample shown, from 0
let sample = null;
let marks = []; // {kind, start, end, type}; ends count UTF-16 units here and characters on the wire
let since = 0; // when the sample was shown, in ms
let busy = false;
const drafts = new Map(); // what was marked or noted of samples that have no label yet

async function ask(path, body) {
  const query = who ? `?annotator=${encodeURIComponent(who)}` : "";
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path + query, sent || {});
  const found = await response.json().catch(() => ({}));
  if (response.ok) return found;
  const detail = found.detail;
  throw new Error(typeof detail === "string" ? detail : detail?.[0]?.msg || `the server said ${response.status}`);
}

function tell(problem) {
  byId("problem").textContent = problem;
  byId("problem").hidden = !problem;
}

// Runs one thing at a time; what fails is told and changes nothing.
async function alone(action) {
  if (busy) return;
  busy = true;
  try {
    tell("");
    await action();
  } catch (error) {
    const gone = error instanceof TypeError;
    tell(gone ? "The server does not answer. Is judge annotate still running? Nothing was saved." : error.message);
  } finally {
    busy = false;
  }
}

// --- Marks -----------------------------------------------------------------------------------------------------

function draw(kind) {
  const panel = byId(TEXTS[kind]);
  const text = sample[TEXTS[kind]];
  const ordered = marks.filter((mark) => mark.kind === kind).sort((one, two) => one.start - two.start);
  const parts = [];
  let place = 0;
  for (const mark of ordered) {
    parts.push(text.slice(place, mark.start), el("mark", {}, text.slice(mark.start, mark.end)));
    place = mark.end;
  }
  panel.replaceChildren(...parts, text.slice(place));
}

function drawMarks() {
  for (const kind of Object.keys(TEXTS)) draw(kind);
  byId("no-marks").hidden = marks.length > 0;
  byId("marks").replaceChildren(
    ...marks.map((mark, place) => {
      const words = sample[TEXTS[mark.kind]].slice(mark.start, mark.end);
      const remove = el("button", { "aria-label": "Remove this mark", title: "Remove" }, "×");
      remove.addEventListener("click", () => removeMark(place));
      const item = el("li", { class: mark.kind }, el("div", { class: "row" }, el("span", { class: "words" }, words), remove));
      if (mark.kind === "unsupported" && work.types.length) {
        item.append(
          el("div", { class: "row types" }, ...work.types.map((type, digit) => {
            const button = el("button", { "aria-pressed": mark.type === type }, `${digit + 1} ${type}`);
            button.addEventListener("click", () => setType(mark, type));
            return button;
          })),
        );
      }
      return item;
    }),
  );
}

function setType(mark, type) {
  mark.type = mark.type === type ? "" : type;
  drawMarks();
}

function removeMark(place) {
  marks.splice(place, 1);
  drawMarks();
}

// The selected words within one of the two texts, as {kind, start, end}, without space around them.
function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  for (const [kind, id] of Object.entries(TEXTS)) {
    const panel = byId(id);
    if (!panel.contains(range.startContainer) || !range.intersectsNode(panel)) continue;
    const before = document.createRange();
    before.selectNodeContents(panel);
    before.setEnd(range.startContainer, range.startOffset);
    const within = document.createRange();
    within.selectNodeContents(panel);
    within.setStart(range.startContainer, range.startOffset);
    if (panel.contains(range.endContainer)) within.setEnd(range.endContainer, range.endOffset);
    const words = within.toString();
    if (!words.trim()) return null;
    const start = before.toString().length + words.length - words.trimStart().length;
    return { kind, start, end: start + words.trim().length };
  }
  return null;
}

function mark() {
  const found = selected();
  if (!found) return tell("Select some words of the answer or the document first.");
  // A mark swallows those that it touches.
  const touched = (other) => other.kind === found.kind && other.start < found.end && found.start < other.end;
  const inside = marks.filter(touched);
  const start = Math.min(found.start, ...inside.map((other) => other.start));
  const end = Math.max(found.end, ...inside.map((other) => other.end));
  const type = inside.find((other) => other.type)?.type || "";
  marks = [...marks.filter((other) => !touched(other)), { kind: found.kind, start, end, type }];
  getSelection().removeAllRanges();
  tell("");
  drawMarks();
}

// Into a text by keyboard: its first word is selected, and the arrow keys go on from there.
function enter(panel) {
  panel.focus();
  getSelection().collapse(panel, 0);
  step(panel, "forward", "word", false);
}

// Selects the next or previous word, or one on the next or previous line; or extends what is selected by as much.
function step(panel, direction, unit, extend) {
  const selection = getSelection();
  if (!selection.rangeCount || !panel.contains(selection.anchorNode)) selection.collapse(panel, 0);
  const before = selection.getRangeAt(0).cloneRange();
  if (extend) {
    selection.modify("extend", direction, unit);
  } else {
    if (direction === "forward" && unit === "word") selection.collapseToEnd();
    else selection.collapseToStart();
    if (unit === "line") {
      selection.modify("move", direction, "line");
      direction = "forward";
    }
    selection.modify("extend", direction, "word");
    if (direction === "forward" && !selection.toString().trim()) selection.modify("extend", direction, "word");
  }
  if (extend && !panel.contains(selection.focusNode)) {
    selection.extend(panel, direction === "forward" ? panel.childNodes.length : 0);
  } else if (!panel.contains(selection.focusNode) || !selection.toString().trim()) {
    selection.removeAllRanges(); // there is no further word
    selection.addRange(before);
  }
  for (const frame of [panel, byId("claims"), byId("sheet")]) {
    if (!frame.contains(panel)) continue;
    const seen = selection.getRangeAt(0).getBoundingClientRect();
    const box = frame.getBoundingClientRect();
    if (seen.bottom > box.bottom) frame.scrollTop += seen.bottom - box.bottom + 40;
    else if (seen.top < box.top) frame.scrollTop -= box.top - seen.top + 40;
  }
}

// --- Samples ---------------------------------------------------------------------------------------------------

const fromWire = (kind) => (mark) => {
  const text = sample[TEXTS[kind]];
  return { kind, start: toUnits(text, mark.start), end: toUnits(text, mark.end), type: mark.type };
};

const onWire = (kind) =>
  marks.filter((mark) => mark.kind === kind).map((mark) => {
    const text = sample[TEXTS[kind]];
    return { start: toPoints(text, mark.start), end: toPoints(text, mark.end), type: mark.type };
  });

function keepDraft() {
  if (!sample || labels[number]) return;
  const note = byId("note").value;
  if (marks.length || note) drafts.set(number, { marks, note });
  else drafts.delete(number);
}

async function show(place) {
  const found = await ask(`/api/samples/${place}`);
  keepDraft();
  sample = found;
  number = place;
  const said = sample.said;
  const draft = drafts.get(place);
  marks = said ? [...said.unsupported.map(fromWire("unsupported")), ...said.evidence.map(fromWire("evidence"))] : draft?.marks || [];
  byId("note").value = said ? said.note : draft?.note || "";
  since = Date.now();
  for (const part of ["document", "question"]) byId(`${part}-part`).hidden = !sample[part];
  byId("sheet").classList.toggle("alone", !sample.document);
  byId("question").textContent = sample.question;
  for (const id of ["sheet", "document", "question", "answer"]) {
    byId(id).lang = sample.language;
    byId(id).scrollTop = 0;
  }
  byId("claims").scrollTop = 0;
  byId("about").textContent = [sample.source, sample.task, sample.id].filter(Boolean).join(" · ");
  getSelection().removeAllRanges();
  document.activeElement?.blur();
  drawMarks();
  drawState();
}

function drawState() {
  const done = labels.filter(Boolean).length;
  byId("position").textContent = `${number + 1} of ${work.samples}`;
  byId("position").title = `${done} done`;
  byId("progress").max = work.samples;
  byId("progress").value = done;
  byId("finished").hidden = done < work.samples;
  byId("finished").textContent = `All ${work.samples} are done; thank you. You can still change your mind.`;
  byId("back").disabled = number === 0;
  byId("forward").disabled = number === work.samples - 1;
  for (const button of document.querySelectorAll(".choice")) {
    button.setAttribute("aria-pressed", button.dataset.label === labels[number]);
  }
}

const say = (label) =>
  alone(async () => {
    const earlier = sample.said?.seconds || 0;
    const said = {
      label,
      unsupported: onWire("unsupported"),
      evidence: onWire("evidence"),
      note: byId("note").value,
      seconds: earlier + Math.round((Date.now() - since) / 100) / 10,
    };
    await ask(`/api/samples/${number}`, said);
    labels[number] = label;
    drafts.delete(number);
    sample.said = said;
    since = Date.now();
    const open = nextOpen(number);
    if (open === null) drawState();
    else await show(open);
  });

// The next sample without a label, from the first again after the last; null where there is none.
function nextOpen(from) {
  for (let step = 1; step <= work.samples; step++) {
    const place = (from + step) % work.samples;
    if (!labels[place]) return place;
  }
  return null;
}

const go = (step) =>
  alone(async () => {
    const place = number + step;
    if (place >= 0 && place < work.samples) await show(place);
  });

// --- Annotators ------------------------------------------------------------------------------------------------

const begin = (name) =>
  alone(async () => {
    const before = who;
    who = name;
    try {
      labels = await ask("/api/labels");
    } catch (error) {
      who = before;
      throw error;
    }
    drafts.clear();
    sample = null;
    history.replaceState(null, "", `#${encodeURIComponent(who)}`); // a reload goes on
    byId("leave").textContent = who;
    await show(nextOpen(work.samples - 1) ?? 0);
    byId("start").hidden = true;
    byId("desk").hidden = false;
  });

const start = () =>
  alone(async () => {
    who = "";
    work = await ask("/api/work");
    document.title = `Annotate ${work.title}`;
    byId("start-title").textContent = work.title;
    byId("start-facts").textContent = `${work.samples} sample${work.samples === 1 ? "" : "s"} to annotate`;
    byId("known").replaceChildren(
      ...Object.entries(work.annotators).map(([name, done]) => {
        const button = el("button", {}, el("b", {}, name), el("span", { class: "quiet" }, `${done} of ${work.samples}`));
        button.addEventListener("click", () => begin(name));
        return button;
      }),
    );
    byId("desk").hidden = true;
    byId("start").hidden = false;
    byId("name").focus();
  });

function onKey(event) {
  if (byId("desk").hidden || byId("keys").open || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target === byId("note")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const panel = Object.values(TEXTS).map(byId).find((text) => text === target);
  const arrow = ARROWS[event.key];
  if (panel && arrow) {
    event.preventDefault();
    return step(panel, ...arrow, event.shiftKey);
  }
  const last = marks.filter((mark) => mark.kind === "unsupported").at(-1);
  const type = work.types[Number(event.key) - 1];
  const actions = {
    p: () => say("PASS"),
    f: () => say("FAIL"),
    u: () => say("UNSURE"),
    j: () => go(1),
    k: () => go(-1),
    a: () => enter(byId("answer")),
    d: () => sample.document && enter(byId("document")),
    m: mark,
    x: () => marks.length && removeMark(marks.length - 1),
    n: () => byId("note").focus(),
    "?": () => byId("keys").showModal(),
  };
  const action = type && last ? () => setType(last, type) : actions[event.key.toLowerCase()];
  if (!action || event.repeat) return;
  event.preventDefault();
  action();
}

byId("who").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("name").value.trim();
  const fits = /^[\p{L}\p{N}_-]{1,40}$/u.test(name);
  byId("name").setCustomValidity(fits ? "" : "Letters, digits, - and _ only");
  if (fits) begin(name);
  else byId("name").reportValidity();
});
byId("name").addEventListener("input", () => byId("name").setCustomValidity(""));
for (const button of document.querySelectorAll(".choice")) {
  button.addEventListener("click", () => say(button.dataset.label));
}
byId("mark").addEventListener("pointerdown", (event) => event.preventDefault()); // or the selection would go
byId("mark").addEventListener("click", mark);
byId("back").addEventListener("click", () => go(-1));
byId("forward").addEventListener("click", () => go(1));
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("leave").addEventListener("click", () => {
  history.replaceState(null, "", location.pathname);
  start();
});
document.addEventListener("keydown", onKey);
addEventListener("beforeunload", (event) => {
  keepDraft();
  if (drafts.size) event.preventDefault();
});

start().then(() => {
  const name = decodeURIComponent(location.hash.slice(1));
  if (name && work) begin(name);
});
