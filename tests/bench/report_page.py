"""How long a report takes to make, how large the page is, and how soon Chromium shows it.

    python tests/bench/report_page.py [--runs 20] [--verdicts 50000] [--keep DIR]

Made-up results of a given size, in three shapes: all runs on the same samples, the same with a reasoning for
each verdict, and every run on samples of its own, which is the most text. Time is wall time of
what ``judge report --html`` does, reading included. The browser's part needs playwright and Chromium
and is left out where they are not installed.
"""

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eval.benchmarks.base import Benchmark
from eval.pages.html import html_page
from eval.pages.runs import read_sets
from eval.report import write_reports
from eval.run import evaluate
from eval.verdicts import VerdictFile
from judge.files import write_text
from judge.floors.rules import make_floor
from judge.types import Label, Mode, Sample, Verdict

RANDOM = random.Random(0)
LETTERS = "etaoinshrdlucmfwypvbgk"
WORDS = ["".join(RANDOM.choices(LETTERS, range(22, 0, -1), k=RANDOM.randint(2, 10))) for _ in range(20_000)]
WEIGHTS = [1 / (rank + 3) for rank in range(len(WORDS))]


def words(characters: int) -> str:
    """Text that packs about as well as English does."""
    return " ".join(RANDOM.choices(WORDS, WEIGHTS, k=characters // 6))


def samples(count: int, name: str) -> list[Sample]:
    return [
        Sample(
            id=f"{name}-{number}", document=words(2000), question=words(80), answer=words(250),
            label=RANDOM.choice(list(Label)), source=f"source {number % 5}", group=f"{name}-{number // 2}",
            meta={"edit_type": RANDOM.choice(["entity", "number", "negation", "addition"])},
        )
        for number in range(count)
    ]  # fmt: skip


@dataclass(frozen=True)
class MadeUp:
    """A judge that is right with some probability."""

    name: str
    skill: float
    mode: Mode = "verdict"
    chunk: int = 1

    def describe(self) -> dict[str, object]:
        return {"model": self.name, "parameters": int(self.skill * 2e9), "prompt_hash": "0" * 16}

    def iter_check(self, asked: Iterable[Sample]) -> Iterator[Verdict]:
        for sample in asked:
            leaning = self.skill if sample.label is Label.FAIL else 1 - self.skill
            p_fail = min(1.0, max(0.0, RANDOM.gauss(leaning, 0.25)))
            label = Label.FAIL if p_fail >= 0.5 else Label.PASS
            yield Verdict(label, p_fail, reasoning=words(350) if self.mode == "reason" else None, raw=label)


def make(out: Path, runs: int, verdicts: int, shape: str) -> list[Path]:
    """Result folders: ``runs`` of them, with so many ``verdicts`` together."""
    common = samples(verdicts // runs, "s")
    floors = [make_floor("floor:always-pass"), make_floor("floor:always-fail")]
    folders = []
    for number in range(runs):
        chosen = samples(verdicts // runs, f"s{number}") if shape == "own samples" else common
        name = f"set {number}" if shape == "own samples" else "set"
        benchmark = Benchmark(name=name, title=f"Made-up {name}", read=lambda _: ())
        mode: Mode = "reason" if shape == "reasoning" else "verdict"
        judge = MadeUp(f"judge {number}", 0.5 + 0.4 * number / runs, mode)
        folders.append(out / str(number))
        with VerdictFile(folders[-1], {}) as file:
            report = evaluate([judge], benchmark, chosen, floors, file, bootstrap=20, command="made up")
        write_reports(folders[-1], [report])
    return folders


def first_paint(page: Path) -> tuple[float, float] | None:
    """Seconds to the first contentful paint, and until the samples can be looked through."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        start = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.locator("#sample-count", has_text=" of ").wait_for()
        ready = time.perf_counter() - start
        paint = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000")
        browser.close()
    return float(paint), ready


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--verdicts", type=int, default=50_000)
    parser.add_argument("--keep", type=Path, help="Keep the results and pages in this folder.")
    given = parser.parse_args()
    print("| shape | runs | verdicts | made in, s | MB | first paint, s | samples ready, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as temporary:
        for shape in ("same samples", "reasoning", "own samples"):
            out = (given.keep or Path(temporary)) / shape.replace(" ", "-")
            folders = make(out, given.runs, given.verdicts, shape)
            page = out / "report.html"
            start = time.perf_counter()
            write_text(page, html_page(read_sets(folders)))
            seconds = time.perf_counter() - start
            shown = first_paint(page)
            browser = "- | -" if shown is None else f"{shown[0]:.2f} | {shown[1]:.2f}"
            size = page.stat().st_size / 1e6
            print(f"| {shape} | {given.runs} | {given.verdicts:,} | {seconds:.1f} | {size:.1f} | {browser} |")


if __name__ == "__main__":
    main()
