// The samples: unpacked once, filtered by hand, and drawn as far as they are in view.
const ROW = 64; // as high as an .item in the style
let data = null;
let view = []; // positions in the set, as filtered and ordered
let current = -1; // a place in view

async function unpack() {
  const packed = atob(byId("payload").textContent);
  const bytes = new Uint8Array(packed.length);
  for (let place = 0; place < packed.length; place += 1) bytes[place] = packed.charCodeAt(place);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}

function chosenData() {
  const set = SUMMARY.runs[chosen].set;
  return { samples: data[set], verdicts: data[set].runs[SUMMARY.sets[set].runs.indexOf(chosen)], set };
}

function filterSamples() {
  const { samples, verdicts } = chosenData();
  view = [];
  if (verdicts) {
    const [show, source, edit, order] = ["show", "source", "edit", "order"].map((id) => byId(id).value);
    const words = byId("search").value.trim().toLowerCase();
    const others = samples.runs.filter(Boolean);
    const shown = {
      wrong: (at) => verdicts.label[at] !== samples.gold[at],
      alarm: (at) => samples.gold[at] === "P" && verdicts.label[at] === "F",
      miss: (at) => samples.gold[at] === "F" && verdicts.label[at] === "P",
      unparsed: (at) => verdicts.label[at] === "U",
      disputed: (at) => others.some((other) => other.label[at] !== verdicts.label[at]),
      right: (at) => verdicts.label[at] === samples.gold[at],
      "": () => true,
    }[show];
    const texts = [samples.id, samples.question, samples.answer, samples.document, verdicts.reasoning];
    for (let at = 0; at < samples.id.length; at += 1) {
      if (
        shown(at) &&
        (!source || samples.source[at] === source) &&
        (!edit || samples.edit[at] === edit) &&
        (!words || texts.some((column) => column[at].toLowerCase().includes(words)))
      )
        view.push(at);
    }
    const sure = (at) =>
      verdicts.p[at] < 0 || verdicts.label[at] === "U"
        ? -1
        : verdicts.label[at] === "F"
          ? verdicts.p[at]
          : 10000 - verdicts.p[at];
    if (order)
      view.sort(
        (one, two) => (order === "sure" ? sure(two) - sure(one) : sure(one) - sure(two)) || one - two,
      );
  }
  byId("sample-count").textContent = verdicts
    ? `${count(view.length)} of ${count(samples.id.length)} samples`
    : "The verdicts of this result are missing.";
  current = -1;
  byId("list").scrollTop = 0;
  byId("rows").style.height = `${view.length * ROW}px`;
  byId("sample").replaceChildren(
    el("p", { class: "quiet" }, view.length ? "Choose a sample." : "Nothing to show."),
  );
  drawList();
}

function drawList() {
  const list = byId("list");
  const { samples, verdicts } = chosenData();
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const last = Math.min(view.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 5);
  const items = [];
  for (let place = first; place < last; place += 1) {
    const at = view[place];
    const item = el(
      "div",
      {
        class: "item",
        role: "option",
        id: `item-${place}`,
        "aria-selected": String(place === current),
        "aria-setsize": view.length,
        "aria-posinset": place + 1,
      },
      el(
        "div",
        {},
        tag(samples.gold[at], "gold"),
        tag(verdicts.label[at], "said"),
        [
          verdicts.p[at] < 0 ? "" : `p(FAIL) ${(verdicts.p[at] / 10000).toFixed(2)}`,
          samples.source[at],
          samples.edit[at],
          samples.id[at],
        ]
          .filter(Boolean)
          .join(" \u00b7 "),
      ),
      el("p", {}, samples.answer[at].slice(0, 200) || samples.id[at]),
    );
    item.style.top = `${place * ROW}px`;
    item.addEventListener("click", () => open(place, true));
    items.push(item);
  }
  byId("rows").replaceChildren(...items);
  if (current >= 0) list.setAttribute("aria-activedescendant", `item-${current}`);
  else list.removeAttribute("aria-activedescendant");
}

function open(place, byHand) {
  current = place;
  drawList();
  const { samples, verdicts, set } = chosenData();
  const at = view[place];
  const part = (title, words, kind) =>
    words ? [el("h3", {}, title), el("p", { class: kind || "text" }, words)] : [];
  const facts = [samples.source[at], samples.edit[at], `id ${samples.id[at]}`];
  if (verdicts.p[at] >= 0) facts.unshift(`p(FAIL) ${(verdicts.p[at] / 10000).toFixed(3)}`);
  if (verdicts.tokens[at]) facts.push(`${count(verdicts.tokens[at])} tokens`);
  if (verdicts.cut[at]) facts.push(`${count(verdicts.cut[at])} characters of the document were left out`);
  const others = SUMMARY.sets[set].runs
    .map((number, position) => [SUMMARY.runs[number].name, samples.runs[position], number])
    .filter(([, other, number]) => other && number !== chosen);
  byId("sample").replaceChildren(
    el(
      "div",
      { class: "head" },
      tag(samples.gold[at], "gold"),
      tag(verdicts.label[at], "said"),
      facts.filter(Boolean).map((words) => el("span", {}, words)),
    ),
    ...part("Question", samples.question[at]),
    ...part("Answer", samples.answer[at]),
    ...part("Reasoning", verdicts.reasoning[at]),
    ...part("Could not be parsed", verdicts.error[at]),
    ...part("Output", verdicts.raw[at], "text raw"),
    ...part(
      samples.chars[at] > samples.document[at].length
        ? `Document, the beginning of ${count(samples.chars[at])} characters`
        : "Document",
      samples.document[at],
    ),
    ...(others.length
      ? [
          el("h3", {}, "The other judges"),
          el(
            "table",
            {},
            el(
              "tbody",
              {},
              others.map(([name, other]) =>
                el(
                  "tr",
                  {},
                  el("th", { scope: "row" }, name),
                  el("td", {}, tag(other.label[at], "said")),
                  el("td", { class: "n" }, other.p[at] < 0 ? "" : (other.p[at] / 10000).toFixed(2)),
                ),
              ),
            ),
          ),
        ]
      : []),
  );
  byId("sample").scrollTop = 0;
  // On a narrow screen the sample stands below the list.
  if (byHand && matchMedia("(max-width: 48rem)").matches) byId("sample").scrollIntoView();
}

function move(event) {
  const page = Math.floor(byId("list").clientHeight / ROW);
  const steps = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -view.length,
    End: view.length,
  };
  if (!(event.key in steps) || !view.length) return;
  event.preventDefault();
  const place = Math.max(0, Math.min(view.length - 1, current + steps[event.key]));
  const list = byId("list");
  list.scrollTop = Math.min(Math.max(list.scrollTop, (place + 1) * ROW - list.clientHeight), place * ROW);
  open(place, false);
}

function showRun() {
  if (!data) return;
  const { samples } = chosenData();
  const edits = [...new Set(samples.edit)].filter(Boolean).sort();
  options(byId("source"), [...new Set(samples.source)].filter(Boolean).sort(), "all");
  options(byId("edit"), edits, "all");
  byId("edit").parentNode.hidden = !edits.length;
  filterSamples();
}

async function startSamples() {
  data = await unpack();
  for (const id of ["show", "source", "edit", "order"]) byId(id).addEventListener("change", filterSamples);
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filterSamples, 200);
  });
  byId("list").addEventListener("keydown", move);
  byId("list").addEventListener("scroll", () => requestAnimationFrame(drawList));
  choosers.push(showRun);
  showRun();
}
