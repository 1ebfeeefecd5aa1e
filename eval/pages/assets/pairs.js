// Two judges: a matrix of differences, and all about the pair that is chosen in it.
const FIGURES = { accuracy: "accuracy", balanced_accuracy: "balanced accuracy", auroc: "AUROC" };

// The summary has each pair once; turned round, differences change their sign.
function turned([one, two, both, onlyOne, onlyTwo, neither, p, figures]) {
  const minus = (value) => (value === null ? null : -value);
  return [
    two,
    one,
    both,
    onlyTwo,
    onlyOne,
    neither,
    p,
    figures.map(([name, first, second, difference, low, high]) => [
      name,
      second,
      first,
      minus(difference),
      minus(high),
      minus(low),
    ]),
  ];
}

function mainDifference(pair) {
  const [accuracy, balanced] = pair[7];
  return balanced[3] === null ? accuracy : balanced;
}

function showPair(set, pair) {
  const name = (place) => SUMMARY.runs[set.runs[place]].name;
  const [one, two, both, onlyOne, onlyTwo, neither, p, figures] = pair;
  byId("pair").replaceChildren(
    el("h3", {}, `${name(one)} against ${name(two)}`),
    el(
      "p",
      { class: "quiet" },
      `Both right ${count(both)}, only the first ${count(onlyOne)}, only the second ${count(onlyTwo)}, ` +
        `neither ${count(neither)}. McNemar's exact test: p ${p < 0.0001 ? "< 0.0001" : `= ${p.toPrecision(2)}`}.`,
    ),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["figure", "first", "second", "difference", "95 % interval"].map((heading, place) =>
            el("th", { scope: "col", class: place ? "n" : null }, heading),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        figures.map(([figure, first, second, difference, low, high]) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, FIGURES[figure]),
            [
              percent(first),
              percent(second),
              signed(difference),
              low === null ? "-" : `${signed(low)} to ${signed(high)}`,
            ].map((words) => el("td", { class: "n" }, words)),
          ),
        ),
      ),
    ),
  );
}

function showMatrix() {
  const set = SUMMARY.sets[byId("pair-set").value];
  const known = new Map();
  for (const pair of set.pairs) {
    known.set(`${pair[0]} ${pair[1]}`, pair);
    known.set(`${pair[1]} ${pair[0]}`, turned(pair));
  }
  const places = set.runs
    .map((_, place) => place)
    .filter((place) => set.pairs.some((pair) => pair[0] === place || pair[1] === place));
  const cell = (row, column) => {
    if (row === column) return el("td", { class: "quiet" }, "\u00b7");
    const pair = known.get(`${row} ${column}`);
    const [, , , difference, low, high] = mainDifference(pair);
    const clear = low !== null && (low > 0 || high < 0);
    const button = el(
      "button",
      {
        type: "button",
        "aria-pressed": "false",
        class: `${difference < 0 ? "less" : "more"}${clear ? " clear" : ""}`,
      },
      signed(difference),
    );
    button.style.setProperty("--depth", clear ? Math.min(60, 8 + 250 * Math.abs(difference)).toFixed(0) : 0);
    button.addEventListener("click", () => {
      document
        .querySelectorAll("#matrix [aria-pressed=true]")
        .forEach((other) => other.setAttribute("aria-pressed", "false"));
      button.setAttribute("aria-pressed", "true");
      showPair(set, pair);
    });
    return el("td", {}, button);
  };
  const names = places.map((place) => SUMMARY.runs[set.runs[place]].name);
  byId("matrix").replaceChildren(
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, "judge"),
        places.map((_, number) => el("th", { scope: "col", title: names[number] }, String(number + 1))),
      ),
    ),
    el(
      "tbody",
      {},
      places.map((row, number) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, `${number + 1} ${names[number]}`),
          places.map((column) => cell(row, column)),
        ),
      ),
    ),
  );
  byId("pair").replaceChildren();
}

function startPairs() {
  const able = SUMMARY.sets.map((set, place) => [set, place]).filter(([set]) => set.pairs.length);
  if (!able.length) {
    byId("pairs").replaceChildren(
      byId("pairs-title"),
      el(
        "p",
        { class: "quiet" },
        "No two results here have verdicts on the same samples.",
      ),
    );
    return;
  }
  byId("pair-set").replaceChildren(...able.map(([set, place]) => el("option", { value: place }, set.name)));
  byId("pair-set").addEventListener("change", showMatrix);
  showMatrix();
}
