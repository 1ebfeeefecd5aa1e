"""The page of ``judge serve``: pictures, accessibility by axe-core, and a large file in one drop.

    python -m tests.bench.serve_page --model MODEL --rows 2000
    python -m tests.bench.serve_page --model MODEL --rows 2000 --samples samples.jsonl
    python -m tests.bench.serve_page --model MODEL --screenshots DIR
    python -m tests.bench.serve_page --model MODEL --axe node_modules/axe-core/axe.min.js

Starts ``judge serve`` as a user calls it and opens its page in headless Chromium; other options are those of
``judge serve``.
"""

import argparse
import csv
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from judge.samples import read_samples
from judge.types import Label, Sample
from tests.bench.serve_memory import peak

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
NASTY = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'> 𝔸 & <mark>"
SIZES = ((1280, "light"), (390, "light"), (1280, "dark"), (390, "dark"))


def make_samples(count: int, seed: int = 0) -> list[Sample]:
    """Made-up samples of four sources, two about each document, some with texts that look like markup."""
    draw = random.Random(seed)
    samples = []
    for number in range(count):
        towers, height = number // 2, 20 + draw.randrange(80)
        document = f"Tower {towers} stands by the river. {NASTY} It is {height} m high.\n\n" + " ".join(
            f"In {1900 + year} the town council spoke about tower {towers} for {draw.randrange(9) + 1} hours."
            for year in range(draw.randrange(5, 60))
        )
        samples.append(
            Sample(
                id=f"tower-{number}",
                document=document,
                question=f"How high is tower {towers}?",
                answer=f"According to the text 𝔸 tower {towers} is {height + number % 2 * 5} m high. {NASTY}",
                label=Label.FAIL if number % 2 else Label.PASS,
                source=("drop", "finance", "covid", "pubmed")[towers % 4],
                group=f"tower-{towers}",
            )
        )
    return samples


def made_up(count: int) -> Iterator[Sample]:
    """Made-up samples with quotes, commas, line breaks and markup in their fields."""
    for number, sample in enumerate(make_samples(count)):
        yield replace(sample, id=f"=row {number}", answer=f'{sample.answer} "So it is", they say.')


def write_rows(path: Path, samples: Iterable[Sample]) -> list[dict[str, str]]:
    """A CSV of samples; gives its rows."""
    rows = [
        {
            "id": sample.id,
            "document": sample.document_text,
            "question": sample.question,
            "answer": sample.answer,
        }
        for sample in samples
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "document", "question", "answer"])
        writer.writeheader()
        writer.writerows(rows)
    return rows


@contextmanager
def chromium() -> Iterator[Any]:
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, int]]:
    """``judge serve`` on a free port; gives the address of the page and the server's process."""
    command = [sys.executable, "-m", "judge", "serve", *options, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None, "the server did not start"
            yield f"{found[0]}/", server.pid
        finally:
            server.terminate()


def open_page(browser: Any, address: str, **options: Any) -> Any:
    """The page, when it knows its judge."""
    tab = browser.new_context(**options).new_page()
    tab.goto(address)
    tab.locator("#model", has_text="Judged by").wait_for()
    return tab


def judge_example(tab: Any, name: str) -> None:
    """Try one of the page's own samples and choose its second sentence."""
    tab.get_by_role("button", name=name).click()
    tab.locator("#sentences [role=button]").nth(1).click()


def drop(tab: Any, path: Path) -> float:
    """Drop a file onto the page; gives the seconds until all of it is judged."""
    start = time.perf_counter()
    tab.evaluate(DROP, [path.name, path.read_text(encoding="utf-8")])
    tab.locator("#batch-state", has_text="All judged").wait_for(timeout=3_600_000)
    return time.perf_counter() - start


def take_pictures(browser: Any, address: str, folder: Path) -> None:
    """The page as it comes, with a verdict, with a file; at two widths, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = folder / "answers.csv"
    write_rows(rows, made_up(12))
    for width, scheme in SIZES:
        size = {"width": width, "height": 844 if width == 390 else 800}
        tab = open_page(browser, address, viewport=size, color_scheme=scheme)
        for number, step in enumerate(
            (
                lambda _: None,
                lambda tab: judge_example(tab, "An invented sentence"),
                lambda tab: drop(tab, rows),
            )
        ):
            step(tab)
            tab.screenshot(path=folder / f"{width}-{scheme}-{number}.png", full_page=True)
    rows.unlink()


def find_faults(browser: Any, address: str, axe: Path) -> list[str]:
    """What axe-core finds on the page, with a verdict and a judged file on it; one line a rule."""
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        rows = Path(temporary) / "answers.csv"
        write_rows(rows, made_up(12))
        for width, scheme in SIZES:
            size = {"width": width, "height": 800}
            tab = open_page(browser, address, viewport=size, color_scheme=scheme, bypass_csp=True)
            judge_example(tab, "An invented sentence")
            drop(tab, rows)
            tab.evaluate(axe.read_text(encoding="utf-8"))
            for violation in tab.evaluate("axe.run().then(found => found.violations)"):
                nodes = ", ".join(str(node["target"][0]) for node in violation["nodes"])
                found.append(f"{width} {scheme}: {violation['impact']}: {violation['id']}: {nodes}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, help="Drop a CSV of so many rows.")
    parser.add_argument("--samples", type=Path, help="Take the CSV's rows from this file of samples.")
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--axe", type=Path, help="axe.min.js, as npm install axe-core brings it.")
    given, options = parser.parse_known_args()
    with (
        serving(*options) as (address, server),
        chromium() as browser,
        tempfile.TemporaryDirectory() as temporary,
    ):
        if given.screenshots:
            take_pictures(browser, address, given.screenshots)
        if given.axe:
            faults = find_faults(browser, address, given.axe)
            print("\n".join(faults) or "axe-core finds no fault")
        if given.rows:
            path = Path(temporary) / "answers.csv"
            samples = (
                islice(read_samples(given.samples), given.rows) if given.samples else made_up(given.rows)
            )
            rows = len(write_rows(path, samples))
            tab = open_page(browser, address)
            seconds = drop(tab, path)
            print(f"{rows} rows, {path.stat().st_size / 1e6:.1f} MB, in one drop: {seconds:.0f} s")
            print(tab.locator("#batch-state").inner_text())
            print(f"memory of the server at most: {peak(server) / 2**20:,.0f} MiB")


if __name__ == "__main__":
    main()
