// The page of `judge serve`: one answer with its sentences. Files of answers are batch.js.
import { setUpBatch } from "./batch.js";
import { byId, el, toUnits } from "./common.js";
import { EXAMPLES } from "./examples.js";

const TOKEN = "judge-token"; // kept until the tab is closed
const FIELDS = ["document", "question", "answer", "task", "language"];
// Of RAGTruth's test sentences 2 % are wrong below the first, 25 % between both, and 60 % above (docs/research/how-it-works.md).
const MIDDLE = 0.2; // from which score on a sentence is in doubt
const HIGH = 0.7; // and from which it is likely wrong
const UNSURE = [0.35, 0.65]; // between these a verdict is not sure

let token = sessionStorage.getItem(TOKEN) || "";
let model = null; // what GET /v1/model says
let judged = null; // {sample, verdict}
let busy = false;

const tell = (problem) => (byId("problem").textContent = problem);
const say = (words) => (byId("said").textContent = words);

// --- The server ------------------------------------------------------------------------------------------------

let asking = null; // the token dialog, while it is open

function askToken(problem) {
  asking ??= new Promise((answer) => {
    const dialog = byId("token-dialog");
    byId("token-problem").textContent = problem;
    byId("token").value = "";
    byId("token-button").hidden = false;
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      asking = null;
      answer(dialog.returnValue === "use");
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

// Headers hold single bytes; these are the token's, by UTF-8.
const bytesOf = (text) => String.fromCharCode(...new TextEncoder().encode(text));

// Sends a request; the token is asked for where the server wants one. Throws an Error with `status`.
async function ask(path, body) {
  for (;;) {
    const headers = { ...(token && { Authorization: `Bearer ${bytesOf(token)}` }), ...(body && { "Content-Type": "application/json" }) };
    let response;
    try {
      response = await fetch(path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
    } catch {
      throw new Error("The server does not answer. Is judge serve still running?");
    }
    if (response.status === 401 && (await askToken(token ? "This token is not the right one." : ""))) continue;
    const found = await response.json().catch(() => ({}));
    if (response.ok) return found;
    const error = new Error(`The server refused: ${found.detail || response.status}.`);
    error.status = response.status;
    error.retryAfter = Number(response.headers.get("Retry-After"));
    throw error;
  }
}

async function introduce() {
  try {
    model = await ask("v1/model");
  } catch (error) {
    byId("model").textContent = "Which judge answers here is not known.";
    return tell(error.message);
  }
  const way = model.mode === "reason" ? ", with its reasoning" : "";
  byId("model").textContent = `Judged by ${model.model}${way}${model.calibrated ? "" : " (not calibrated)"}`;
}

// --- One answer ------------------------------------------------------------------------------------------------

const percent = (chance) => `${chance > 0 && chance < 0.01 ? "under 1" : chance < 1 && chance > 0.99 ? "over 99" : Math.round(100 * chance)} %`;

function fill(sample) {
  for (const name of FIELDS) byId(name).value = [sample[name] ?? ""].flat().join("\n\n");
  byId("task").value ||= "qa";
  byId("language").value ||= "en";
}

async function judge() {
  if (busy) return;
  const sample = Object.fromEntries(FIELDS.map((name) => [name, byId(name).value]));
  for (const name of ["document", "answer"]) {
    if (!sample[name].trim()) {
      tell(`There is no ${name} yet.`);
      return byId(name).focus();
    }
  }
  busy = true;
  byId("go").disabled = true;
  byId("result").setAttribute("aria-busy", "true");
  tell("");
  say("Judging");
  try {
    const found = await ask("v1/judge", { samples: [sample], claims: true });
    judged = { sample, verdict: found.verdicts[0] };
    show();
  } catch (error) {
    tell(error.message);
    say("");
  } finally {
    busy = false;
    byId("go").disabled = false;
    byId("result").removeAttribute("aria-busy");
  }
}

const isUnsure = (chance) => chance !== null && chance > UNSURE[0] && chance < UNSURE[1];

function meaning({ label, p_fail: chance }) {
  if (label === null) return "";
  const verdict =
    label === "FAIL"
      ? "The judge finds something in the answer that the document does not support."
      : "The judge finds that the document supports the answer.";
  if (chance === null) return `${verdict} It gave no probability.`;
  const unsure = isUnsure(chance) ? " It is not sure: read the sentences in doubt yourself." : "";
  if (!model?.calibrated) return `${verdict}${unsure} It is not calibrated: the figure ranks answers, and is no share of wrong ones.`;
  const share = Math.round(100 * chance);
  return `${verdict}${unsure} Of 100 answers with this figure about ${share} ${share === 1 ? "is" : "are"} hallucinated, where answers are like those it was calibrated on.`;
}

function show() {
  const { sample, verdict } = judged;
  const { label, p_fail: chance } = verdict;
  const sure = { PASS: "Faithful", FAIL: "Hallucinated" }[label] || "No verdict";
  const words = label !== null && isUnsure(chance) ? `Perhaps ${sure.toLowerCase()}` : sure;
  byId("empty").hidden = true;
  byId("verdict").hidden = false;
  byId("label").textContent = words;
  byId("label").className = words === sure ? { PASS: "pass", FAIL: "fail" }[label] || "unsure" : "unsure";
  byId("chance").textContent = chance === null ? "" : `Probability that it is hallucinated: ${percent(chance)}`;
  byId("scale").hidden = chance === null;
  if (chance !== null) byId("needle").style.left = `${100 * chance}%`;
  byId("meaning").textContent = label === null ? verdict.error : meaning(verdict);
  const cut = verdict.cut_chars;
  byId("notes").hidden = !cut;
  byId("notes").textContent = `The document's last ${cut} characters did not fit into the judge's context and were not read.`;
  byId("reasoning-part").hidden = !verdict.reasoning;
  byId("reasoning").textContent = verdict.reasoning || "";
  byId("sentences").lang = byId("shown").lang = sample.language;
  byId("detail").hidden = true;
  drawSentences();
  const doubted = verdict.claims.filter((claim) => doubtOf(claim) !== "low").length;
  const some = verdict.claims.length ? `, ${doubted} of ${verdict.claims.length} sentences in doubt` : "";
  say(`${words}${chance === null ? "" : `, ${percent(chance)} likely hallucinated`}${some}`);
  const box = byId("result").getBoundingClientRect();
  if (box.top > innerHeight * 0.6 || box.top < 0) byId("result").scrollIntoView({ block: "start" });
  byId("result").focus({ preventScroll: true });
}

// --- Sentences -------------------------------------------------------------------------------------------------

function doubtOf({ p_fail: chance }) {
  if (chance === null) return "unknown";
  return chance >= HIGH ? "high" : chance >= MIDDLE ? "middle" : "low";
}

const doubtIn = (claim) => (claim.p_fail === null ? "not judged" : `doubt ${percent(claim.p_fail)}`);

function drawSentences() {
  const { sample, verdict } = judged;
  const parts = [];
  let place = 0;
  verdict.claims.forEach((claim, number) => {
    const start = toUnits(sample.answer, claim.span.start);
    const end = toUnits(sample.answer, claim.span.end);
    const hint = el("span", { class: "hidden" }, ` (${doubtIn(claim)}) `);
    // No <button>: it would not flow over lines like the sentence that it is.
    const button = el("span", { role: "button", tabindex: "0", class: `doubt ${doubtOf(claim)}`, "aria-pressed": "false", title: doubtIn(claim) }, sample.answer.slice(start, end), hint);
    button.addEventListener("click", () => choose(number));
    parts.push(sample.answer.slice(place, start), button);
    place = end;
  });
  byId("sentences").replaceChildren(...parts, sample.answer.slice(place));
}

const buttons = () => [...byId("sentences").querySelectorAll("[role=button]")];

function choose(number) {
  const { sample, verdict } = judged;
  const claim = verdict.claims[number];
  const window = verdict.windows[claim.window];
  buttons().forEach((button, at) => button.setAttribute("aria-pressed", at === number));
  const text = sample.document;
  const start = toUnits(text, window.start);
  const end = toUnits(text, window.end);
  const mark = el("mark", {}, text.slice(start, end));
  byId("shown").replaceChildren(text.slice(0, start), mark, text.slice(end));
  const which = `Sentence ${number + 1} of ${verdict.claims.length}: ${doubtIn(claim)}.`;
  const advice = {
    low: "The passage that speaks for it most is marked.",
    middle: "The passage nearest to it is marked; read whether it speaks for it.",
    high: "The judge finds nothing that speaks for it; the nearest passage is marked.",
    unknown: "The passage nearest to it is marked.",
  }[doubtOf(claim)];
  byId("detail").hidden = false;
  byId("detail-text").textContent = `${which} ${advice}`;
  const frame = byId("shown");
  frame.scrollTop = mark.offsetTop - frame.offsetTop - 40;
  byId("detail").scrollIntoView({ block: "nearest" });
}

byId("sentences").addEventListener("keydown", (event) => {
  const all = buttons();
  const at = all.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") byId("answer").focus();
  else if ((event.key === "Enter" || event.key === " ") && at >= 0 && !event.ctrlKey && !event.metaKey) choose(at);
  else if (step && all[at + step]) all[at + step].focus();
  else return;
  event.preventDefault();
});

// --- What starts it --------------------------------------------------------------------------------------------

byId("example-buttons").replaceChildren(
  ...EXAMPLES.map((example) => {
    const button = el("button", { type: "button" }, example.name);
    button.addEventListener("click", () => {
      fill(example);
      judge();
    });
    return button;
  }),
);
byId("form").noValidate = true; // what is missing is told in words, and heard
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  judge();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !byId("token-dialog").open) {
    event.preventDefault();
    judge();
  }
});
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("token-button").addEventListener("click", () => askToken("").then((given) => given && introduce()));
byId("token-cancel").addEventListener("click", () => byId("token-dialog").close());
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  sessionStorage.setItem(TOKEN, token);
  byId("token-dialog").close("use");
});
setUpBatch(ask, tell, say, (sample) => {
  fill(sample);
  byId("form").scrollIntoView({ block: "start" });
  judge();
});
introduce();
