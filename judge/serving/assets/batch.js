// A file of samples: judged a few at a time, with a bar, and kept in this tab until it is downloaded.
import { byId, el } from "./common.js";
import { readSamples, sizeOf, toCsv, toJsonl } from "./rows.js";

const MOST = 64; // samples of one request
const MOST_CHARACTERS = 300_000;
const SECONDS = 2; // that a request should take, so that the bar moves
const SHOWN = 200; // rows of the table
const DIVIDES = new Set([413, 422, 500]); // what one sample may have brought upon its request

let run = null; // {name, samples, verdicts, claims, stopped, seconds}

const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const count = (number) => number.toLocaleString("en");

// Judges samples in one request; where that is refused because of one of them, in halves.
async function judge(ask, samples, claims) {
  for (;;) {
    try {
      return (await ask("v1/judge", { samples, claims })).verdicts;
    } catch (error) {
      if (error.status === 429) {
        await wait(error.retryAfter || 1);
        if (run.stopped) throw error;
      } else if (DIVIDES.has(error.status) && samples.length > 1) {
        const half = samples.length >> 1;
        return [...(await judge(ask, samples.slice(0, half), claims)), ...(await judge(ask, samples.slice(half), claims))];
      } else if (DIVIDES.has(error.status)) {
        return [{ id: samples[0].id, label: null, p_fail: null, error: error.message }];
      } else {
        throw error;
      }
    }
  }
}

function next(most) {
  const found = [];
  let size = 0;
  for (const sample of run.samples.slice(run.verdicts.length, run.verdicts.length + most)) {
    size += sizeOf(sample);
    if (found.length && size > MOST_CHARACTERS) break;
    found.push(sample);
  }
  return found;
}

function timeLeft() {
  const left = Math.round((run.seconds / run.verdicts.length) * (run.samples.length - run.verdicts.length));
  if (!run.verdicts.length) return "";
  return left < 90 ? `, about ${Math.max(1, left)} s left` : `, about ${Math.round(left / 60)} min left`;
}

function summary() {
  const labels = { FAIL: 0, PASS: 0, null: 0 };
  for (const verdict of run.verdicts) labels[verdict.label]++;
  const without = labels.null ? `, ${count(labels.null)} without a verdict` : "";
  return `${count(labels.FAIL)} hallucinated, ${count(labels.PASS)} faithful${without}`;
}

function draw(going) {
  const done = run.verdicts.length;
  const all = run.samples.length;
  byId("batch").hidden = false;
  byId("batch-name").textContent = `${run.name}: ${count(all)} answers`;
  byId("batch-bar").max = all;
  byId("batch-bar").value = done;
  const where = done < all ? `${count(done)} of ${count(all)}` : "All judged";
  byId("batch-state").textContent = `${where}${going ? timeLeft() : ""}${done ? `: ${summary()}` : ""}`;
  byId("stop").hidden = done === all;
  byId("stop").textContent = going ? "Stop" : "Go on";
  for (const kind of ["csv", "jsonl"]) byId(`download-${kind}`).hidden = going || !done;
}

// The most doubtful answers first, those without a verdict before them.
function drawTable(pick) {
  const doubt = (at) => (run.verdicts[at].label === null ? 2 : run.verdicts[at].p_fail ?? (run.verdicts[at].label === "FAIL" ? 1 : 0));
  const order = run.verdicts.map((_, at) => at).sort((one, two) => doubt(two) - doubt(one) || one - two);
  byId("table-frame").hidden = false;
  byId("table-title").textContent =
    order.length > SHOWN ? `The ${SHOWN} most doubtful; the downloads hold all. A row’s number opens it above.` : "The most doubtful first. A row’s number opens it above.";
  byId("rows").replaceChildren(
    ...order.slice(0, SHOWN).map((at) => {
      const { label, p_fail: chance, error } = run.verdicts[at];
      const open = el("button", { type: "button", "aria-label": `Open row ${at + 1}` }, String(at + 1));
      const sample = run.samples[at];
      open.addEventListener("click", () => pick(sample));
      const words = label === null ? error || "" : sample.answer;
      return el(
        "tr",
        {},
        el("td", {}, open),
        el("td", { class: { PASS: "pass", FAIL: "fail" }[label] || "unsure" }, label || "none"),
        el("td", { class: "number" }, chance == null ? "-" : chance.toFixed(3)),
        el("td", {}, words.length > 160 ? `${words.slice(0, 160)}…` : words),
      );
    }),
  );
}

async function go(ask, tell, say, pick) {
  const mine = run;
  mine.stopped = false;
  mine.going = true;
  byId("table-frame").hidden = true;
  let most = 8;
  let told = 0;
  try {
    while (!mine.stopped && mine.verdicts.length < mine.samples.length) {
      draw(true);
      const start = Date.now();
      const verdicts = await judge(ask, next(most), mine.claims);
      const seconds = (Date.now() - start) / 1000;
      mine.seconds += seconds;
      mine.verdicts.push(...verdicts);
      most = seconds < SECONDS / 2 ? Math.min(2 * most, MOST) : seconds > 2 * SECONDS ? Math.max(1, most >> 1) : most;
      const quarter = Math.floor((4 * mine.verdicts.length) / mine.samples.length);
      if (quarter > told && quarter < 4) say(`${25 * quarter} % judged`); // often enough for who hears it
      told = quarter;
    }
  } catch (error) {
    tell(`${error.message} What was judged so far is kept; go on, or download it.`);
  }
  mine.going = false;
  draw(false);
  drawTable(pick);
  if (mine.verdicts.length === mine.samples.length) say(`All judged: ${summary()}`);
}

function download(kind) {
  const text = { csv: toCsv, jsonl: toJsonl }[kind](run.verdicts);
  const address = URL.createObjectURL(new Blob([text], { type: kind === "csv" ? "text/csv" : "application/x-ndjson" }));
  const name = run.name.replace(/\.[^.]*$/, "");
  el("a", { href: address, download: `${name}.verdicts.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Makes the part of the page for files work.
//   ask: sends a request. tell: shows a problem. say: speaks to screen readers. pick: opens a sample above.
export function setUpBatch(ask, tell, say, pick) {
  async function take(file) {
    if (!file) return;
    tell("");
    if (run?.going) return tell("A file is being judged; stop it first.");
    try {
      const samples = readSamples(file.name, await file.text());
      run = { name: file.name, samples, verdicts: [], claims: byId("with-claims").checked, stopped: false, going: false, seconds: 0 };
    } catch (error) {
      return tell(`${file.name}: ${error.message}`);
    }
    byId("batch").scrollIntoView({ block: "nearest" });
    await go(ask, tell, say, pick);
  }
  byId("file").addEventListener("change", async () => {
    await take(byId("file").files[0]);
    byId("file").value = ""; // the same file again is a change again
  });
  byId("stop").addEventListener("click", () => {
    if (run.going) run.stopped = true;
    else go(ask, tell, say, pick);
  });
  for (const kind of ["csv", "jsonl"]) byId(`download-${kind}`).addEventListener("click", () => download(kind));
  const over = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!over(event)) return;
    event.preventDefault();
    document.body.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("over");
    if (!over(event)) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  addEventListener("beforeunload", (event) => {
    if (run?.going) event.preventDefault();
  });
}
