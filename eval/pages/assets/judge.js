// One judge: the charts of the chosen run. All pickers of a run show the same one.
let chosen = 0;
const choosers = [];

function choose(number) {
  chosen = Number(number);
  byId("run").value = byId("sample-run").value = String(chosen);
  choosers.forEach((tell) => tell());
}

function confusion(run) {
  if (!run.judged) return null;
  const row = (gold, [pass, fail, unparsed]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, `gold ${gold}`),
      el("td", { class: gold === "PASS" ? "right" : "wrong" }, count(pass)),
      el("td", { class: gold === "FAIL" ? "right" : "wrong" }, count(fail)),
      el("td", { class: unparsed ? "wrong" : "quiet" }, count(unparsed)),
    );
  return chart(
    "Verdicts",
    "Blue is right, orange is wrong.",
    el(
      "table",
      { class: "confusion" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td"),
          ["PASS", "FAIL", "not parsed"].map((name) => el("th", { scope: "col", class: "n" }, name)),
        ),
      ),
      el("tbody", {}, row("PASS", run.confusion.PASS), row("FAIL", run.confusion.FAIL)),
    ),
  );
}

function showJudge() {
  const run = SUMMARY.runs[chosen];
  const figures = [confusion(run), reliability(run), scores(run), selective(run), ...run.slices.map(slice)];
  const missing = run.scored
    ? null
    : el("p", { class: "quiet" }, "This judge gave no probabilities: there is nothing to calibrate.");
  byId("charts").replaceChildren(...figures.filter(Boolean), ...(missing ? [missing] : []));
}

function startJudge() {
  for (const id of ["run", "sample-run"]) {
    byId(id).replaceChildren(
      ...SUMMARY.sets.map((set) =>
        el(
          "optgroup",
          { label: set.name },
          set.runs.map((number) =>
            el("option", { value: number }, `${SUMMARY.runs[number].name} \u00b7 ${set.name}`),
          ),
        ),
      ),
    );
    byId(id).addEventListener("change", (event) => choose(event.target.value));
  }
  for (const link of document.querySelectorAll("a[data-run]")) {
    link.addEventListener("click", () => choose(link.dataset.run));
  }
  choosers.push(showJudge);
}
