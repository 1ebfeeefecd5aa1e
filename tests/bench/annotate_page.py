"""Annotate samples on the real page, and compare the kappas with scikit-learn's.

    python -m tests.bench.annotate_page --samples 200
    python -m tests.bench.annotate_page --samples 6 --screenshots DIR

Starts ``judge annotate``, opens its page in headless Chromium as two annotators who agree better than by
chance, and says PASS, FAIL or unsure of every sample with the keyboard; every third FAIL gets a mark. What
the files hold must be what was said, and ``judge agreement`` must give scikit-learn's Cohen's kappa, and the
Fleiss' kappa and alpha that plain loops over all pairs of ratings give.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

from judge.files import read_jsonl
from judge.samples import write_samples
from judge.types import Label, Sample

KEYS = {"PASS": "p", "FAIL": "f", "UNSURE": "u"}
PEOPLE = ("Ada", "Bo")
NASTY = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'> 𝔸 & <mark>"


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


def opinions(samples: Sequence[Sample], share: float, seed: int) -> dict[str, str]:
    """What a person says of each sample: its label with a probability, or else anything."""
    draw = random.Random(seed)
    return {
        sample.id: str(sample.label) if draw.random() < share else draw.choice(list(KEYS))
        for sample in samples
    }


@contextmanager
def serving(*arguments: object) -> Iterator[str]:
    """``judge annotate`` as a user calls it; gives the address of the page."""
    command = [sys.executable, "-m", "judge", "annotate", *map(str, arguments), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None, "the server did not start"
            yield found[0]
        finally:
            server.terminate()


@contextmanager
def chromium() -> Iterator[Any]:
    """Headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def begin(tab: Any, address: str, name: str) -> None:
    """Open the page as somebody."""
    tab.goto(address)
    tab.locator("#name").fill(name)
    tab.keyboard.press("Enter")
    tab.locator("#answer").wait_for()


def annotate(tab: Any, said: Mapping[str, str]) -> None:
    """Say of every sample what there is to say, with the keyboard alone."""
    marked = 0
    for _ in said:
        about = tab.locator("#about").text_content()
        label = said[about.rpartition(" · ")[2]]
        if label == "FAIL":
            marked += 1
            if marked % 3 == 1:
                for key in ("a", "ArrowRight", "Shift+ArrowRight", "m"):
                    tab.keyboard.press(key)
        tab.keyboard.press(KEYS[label])
        tab.wait_for_function(
            "about => document.getElementById('about').textContent !== about"
            " || !document.getElementById('finished').hidden",
            arg=about,
        )


def by_hand(ratings: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Fleiss' kappa and Krippendorff's alpha of complete ratings, by loops over all pairs."""
    everything = [label for item in ratings for label in item]
    n, raters = len(everything), len(ratings[0])
    pairs = [pair for item in ratings for pair in permutations(item, 2)]
    observed = sum(one == two for one, two in pairs) / len(pairs)
    shares = [everything.count(label) / n for label in set(everything)]
    chance = sum(share * share for share in shares)
    differ = sum(one != two for one, two in permutations(everything, 2)) / (n * (n - 1))
    assert len(pairs) == len(ratings) * raters * (raters - 1)
    return (observed - chance) / (1 - chance), 1 - (1 - observed) / differ


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--screenshots", type=Path, help="Only take pictures, at 1280 and 390 px.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        samples = make_samples(given.samples)
        path, out = Path(temporary) / "towers.jsonl", Path(temporary) / "out"
        write_samples(path, samples)
        if given.screenshots:
            return take_pictures(path, out, given.screenshots)
        said = {name: opinions(samples, 0.8, seed) for seed, name in enumerate(PEOPLE)}
        start = time.perf_counter()
        with serving(path, "--out", out) as address, chromium() as browser:
            for name in PEOPLE:
                tab = browser.new_page()
                begin(tab, address, name)
                annotate(tab, said[name])
                assert tab.evaluate("window.broken") is None
                tab.close()
        seconds = time.perf_counter() - start
        files = [out / f"{name}.jsonl" for name in PEOPLE]
        compare(samples, said, files)
        marks = sum(len(row["unsupported"]) for file in files for _, row in read_jsonl(file))
        print(f"{len(PEOPLE)} x {len(samples)} samples in {seconds:.0f} s through the page, {marks} marks")


def compare(samples: Sequence[Sample], said: Mapping[str, Mapping[str, str]], files: Sequence[Path]) -> None:
    """Print and compare all figures."""
    from sklearn.metrics import cohen_kappa_score

    answers = {sample.id: sample.answer for sample in samples}
    for name, file in zip(said, files, strict=True):
        rows = [row for _, row in read_jsonl(file)]
        assert {row["id"]: row["label"] for row in rows} == said[name], "the file is not what was said"
        for row in rows:
            for mark in row["unsupported"]:
                assert answers[row["id"]][mark["start"] : mark["end"]] == mark["text"] == "to the"
    command = [sys.executable, "-m", "judge", "agreement", *map(str, files), "--json", "--with-unsure"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print("| source | samples | Cohen | scikit-learn | Fleiss | by hand | alpha | by hand |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for source, found in report["sources"].items():
        ids = [sample.id for sample in samples if source in ("overall", sample.source)]
        one, two = ([said[name][item] for item in ids] for name in PEOPLE)
        fleiss, alpha = by_hand(list(zip(one, two, strict=True)))
        wanted = {"cohen": float(cohen_kappa_score(one, two)), "fleiss": fleiss, "alpha": alpha}
        cells = []
        for name, value in wanted.items():
            measured = found[name]["value"]
            assert abs(measured - value) < 1e-12, (source, name, measured, value)
            cells += [f"{measured:.6f}", f"{value:.6f}"]
        print(f"| {source} | {len(ids)} | {' | '.join(cells)} |")


def take_pictures(path: Path, out: Path, folder: Path) -> None:
    """The page at two widths, light and dark: who, a sample, a sample with marks and types, keys, the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving(path, "--out", out, "--types", "diahalu") as address, chromium() as browser:
        for width, scheme in ((1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")):
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            tab = context.new_page()

            def picture(name: str, tab: Any = tab, about: str = f"{width}-{scheme}") -> None:
                tab.screenshot(path=folder / f"{about}-{name}.png")

            tab.goto(address)
            tab.locator("#name").wait_for()
            picture("1-start")
            begin(tab, address, f"Ada-{width}-{scheme}")
            picture("2-sample")
            for key in (
                "a",
                "ArrowRight",
                "Shift+ArrowRight",
                "m",
                "1",
                "d",
                "ArrowRight",
                "Shift+ArrowRight",
                "m",
            ):
                tab.keyboard.press(key)
            for key in ("d", "ArrowRight", "ArrowRight", "ArrowRight"):
                tab.keyboard.press(key)
            picture("3-marks")
            tab.keyboard.press("p")
            tab.locator("#problem", has_text="PASS").wait_for()
            picture("4-problem")
            tab.keyboard.press("?")
            picture("5-keys")
            tab.keyboard.press("Escape")
            tab.keyboard.press("f")
            tab.locator("#position", has_text="2 of").wait_for()
            tab.keyboard.press("k")
            tab.locator("#position", has_text="1 of").wait_for()
            picture("6-said")
            context.close()


if __name__ == "__main__":
    main()
