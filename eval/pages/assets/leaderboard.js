// Tables that sort by a click on a heading; the leaderboard's filters.
function sortBy(table, header) {
  const headers = [...header.parentNode.children];
  const column = headers.indexOf(header);
  // Figures are interesting from the top, names from A.
  const numeric = header.classList.contains("n");
  const order = {
    none: numeric ? "descending" : "ascending",
    ascending: "descending",
    descending: "ascending",
  };
  const wanted = order[header.getAttribute("aria-sort")];
  headers.forEach((other) => other.setAttribute("aria-sort", other === header ? wanted : "none"));
  const sign = wanted === "ascending" ? 1 : -1;
  const key = (row) => {
    const cell = row.children[column];
    if (!numeric) return cell.textContent.trim().toLowerCase();
    const value = parseFloat(cell.dataset.v);
    return Number.isNaN(value) ? null : value;
  };
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [key(row), row]);
  rows.sort(([one], [two]) => {
    if (one === null || two === null) return (one === null) - (two === null); // what is missing stays last
    return sign * (one < two ? -1 : one > two ? 1 : 0);
  });
  body.append(...rows.map(([, row]) => row));
}

function startTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const header of table.tHead.rows[0].cells) {
      header.querySelector("button").addEventListener("click", () => sortBy(table, header));
    }
  }
}

function startLeaderboard() {
  const rows = [...byId("board").tBodies[0].rows];
  const fields = ["by-set", "by-size", "by-mode", "by-name", "with-baselines"].map(byId);
  const filter = () => {
    const [set, size, mode, name, baselines] = fields.map((f) => (f.type === "checkbox" ? f.checked : f.value));
    let shown = 0;
    for (const row of rows) {
      const baseline = row.className === "baseline";
      // Trivial rules have no size and no mode: they stand beside whoever is shown.
      const judge =
        !baseline &&
        (!size || row.dataset.size === size) &&
        (!mode || row.dataset.mode === mode) &&
        row.cells[0].textContent.toLowerCase().includes(name.trim().toLowerCase());
      row.hidden = Boolean(set && row.dataset.set !== set) || !(baseline ? baselines : judge);
      shown += !row.hidden && !baseline;
    }
    byId("board-count").textContent = `${shown} of ${SUMMARY.runs.length} results`;
  };
  fields.forEach((field) => field.addEventListener("input", filter));
  filter();
}
