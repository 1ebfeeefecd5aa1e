// Charts as SVG. Each takes a run of the summary and gives a figure, or null where there is nothing to show.
const chart = (title, note, ...drawn) => el("figure", {}, el("h3", {}, title), el("p", {}, note), ...drawn);
const text = (x, y, words, anchor, more) => svg("text", { x, y, "text-anchor": anchor, ...more }, words);
const line = (kind, x1, y1, x2, y2) => svg("line", { class: kind, x1, y1, x2, y2 });
const tip = (words) => svg("title", {}, words);

function axes(x, y, size, across, up) {
  const parts = [];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(line("grid", x, y + size.h * (1 - share), x + size.w, y + size.h * (1 - share)));
    parts.push(text(x - 6, y + size.h * (1 - share) + 4, `${100 * share}`, "end"));
    parts.push(text(x + size.w * share, y + size.h + 16, share.toString(), "middle"));
  }
  parts.push(text(x + size.w / 2, y + size.h + 32, across, "middle"));
  parts.push(text(12, y + size.h / 2, up, "middle", { transform: `rotate(-90 12 ${y + size.h / 2})` }));
  return parts;
}

function reliability(run) {
  if (!run.scored) return null;
  const [x, y, size] = [44, 8, { w: 264, h: 190 }];
  const points = run.bins
    .filter(([, , n]) => n)
    .map(([p, share, n]) => [x + size.w * p, y + size.h * (1 - share), n, p, share]);
  return chart(
    "Reliability",
    `Calibration error ${percent(run.ece)}${run.by_chance === null ? "" : `, by chance alone ${percent(run.by_chance)}`}. On the dashed line a probability means what it says; the area of a dot is its samples.`,
    svg(
      "svg",
      {
        viewBox: "0 0 320 236",
        role: "img",
        "aria-label": `Reliability diagram, calibration error ${percent(run.ece)}`,
      },
      axes(x, y, size, "probability of FAIL", "is FAIL, %"),
      line("ideal", x, y + size.h, x + size.w, y),
      svg("polyline", {
        class: "curve",
        points: points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" "),
      }),
      points.map(([cx, cy, n, p, share]) =>
        svg(
          "circle",
          {
            class: "dot",
            cx: cx.toFixed(1),
            cy: cy.toFixed(1),
            r: (2.5 + 11 * Math.sqrt(n / run.scored)).toFixed(1),
          },
          tip(`${count(n)} samples: mean probability ${p.toFixed(2)}, ${percent(share)} % are FAIL`),
        ),
      ),
    ),
  );
}

function scores(run) {
  if (!run.scored || !run.judged) return null;
  const { PASS, FAIL } = run.histogram;
  const most = Math.max(...PASS, ...FAIL, 1);
  const [x, middle, height, wide] = [14, 104, 88, 292 / PASS.length];
  const bars = (counts, kind, up) =>
    counts.map((n, bin) =>
      n
        ? svg(
            "rect",
            {
              class: kind,
              x: (x + bin * wide + 1).toFixed(1),
              width: (wide - 2).toFixed(1),
              rx: 1,
              y: (up ? middle - 1 - (height * n) / most : middle + 1).toFixed(1),
              height: ((height * n) / most).toFixed(1),
            },
            tip(
              `${count(n)} ${kind.toUpperCase()} samples from ${(bin / PASS.length).toFixed(2)} to ${((bin + 1) / PASS.length).toFixed(2)}`,
            ),
          )
        : null,
    );
  return chart(
    "Scores",
    "Samples by the probability of FAIL they were given: gold FAIL above, gold PASS below.",
    svg(
      "svg",
      { viewBox: "0 0 320 236", role: "img", "aria-label": "Histogram of scores by gold label" },
      bars(FAIL, "fail", true),
      bars(PASS, "pass", false),
      line("grid", x, middle, 306, middle),
      line("ideal", 160, 10, 160, 198),
      text(x, 14, "FAIL"),
      text(x, 200, "PASS"),
      text(306, 14, `most: ${count(most)}`, "end"),
      text(x, 217, "0"),
      text(160, 217, "0.5", "middle"),
      text(306, 217, "1", "end"),
      text(160, 232, "probability of FAIL", "middle"),
    ),
  );
}

function selective(run) {
  const points = run.selective.filter(([, accuracy]) => accuracy !== null);
  if (points.length < 2) return null;
  const [x, y, size] = [44, 8, { w: 264, h: 190 }];
  const place = ([coverage, accuracy]) => [x + size.w * coverage, y + size.h * (1 - accuracy)];
  return chart(
    "Leaving the doubtful open",
    "Accuracy on the surest verdicts, by the share of samples that they are.",
    svg(
      "svg",
      { viewBox: "0 0 320 236", role: "img", "aria-label": "Accuracy by coverage" },
      axes(x, y, size, "share of samples", "accuracy, %"),
      svg("polyline", {
        class: "curve",
        points: points
          .map((p) =>
            place(p)
              .map((v) => v.toFixed(1))
              .join(),
          )
          .join(" "),
      }),
      points.map((p) =>
        svg(
          "circle",
          { class: "dot", cx: place(p)[0], cy: place(p)[1], r: 4 },
          tip(`${percent(p[1])} % right on the surest ${percent(p[0])} %`),
        ),
      ),
    ),
  );
}

function slice([title, parts]) {
  const [x, wide, step] = [132, 106, 24];
  const height = parts.length * step + 20;
  return chart(
    `By ${title}`,
    "Accuracy with its 95 % interval, and the number of samples.",
    svg(
      "svg",
      { viewBox: `0 0 320 ${height}`, role: "img", "aria-label": `Accuracy by ${title}` },
      [0, 0.5, 1].map((share) => [
        line("grid", x + wide * share, 4, x + wide * share, height - 16),
        text(x + wide * share, height - 3, `${100 * share}`, "middle"),
      ]),
      parts.map(([name, n, accuracy, low, high], place) => {
        const y = 14 + place * step;
        return [
          text(x - 10, y + 4, name.length > 20 ? `${name.slice(0, 19)}\u2026` : name, "end"),
          line("span", x + wide * low, y, x + wide * high, y),
          svg(
            "circle",
            { class: "dot", cx: x + wide * accuracy, cy: y, r: 4 },
            tip(`${name}: ${percent(accuracy)} [${percent(low)}, ${percent(high)}], ${count(n)} samples`),
          ),
          text(288, y + 4, percent(accuracy), "end", { class: "value" }),
          text(320, y + 4, count(n), "end"),
        ];
      }),
    ),
  );
}
