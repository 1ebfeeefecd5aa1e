// Starts everything; the samples when the page has been read to its end, where they are.
const SUMMARY = JSON.parse(byId("summary").textContent);
startTables();
startLeaderboard();
startJudge();
startPairs();
choose(document.querySelector("a[data-run]").dataset.run); // the best of the first benchmark
document.addEventListener("DOMContentLoaded", () =>
  setTimeout(
    () =>
      startSamples().catch((error) => {
        byId("sample-count").textContent =
          `The samples could not be unpacked (${error.message}); a newer browser can.`;
      }),
    50,
  ),
);
