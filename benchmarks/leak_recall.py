"""Recall of the leak gate on planted leaks, its false alarms, and its speed.

    python -m benchmarks.leak_recall                                  # synthetic documents
    python -m benchmarks.leak_recall --data-dir DIR                   # real benchmarks and documents
    python -m benchmarks.leak_recall --speed 1000000                  # rows through the gate on one core

DIR holds the original files of benchmarks and of PubMedQA, XQuAD, COVID-QA, CMRC 2018 and DRCD. 300 leaks of
each kind are planted in 10,000 training rows: an unchanged document of a benchmark; with other case, spacing
and punctuation; with one word (character in Chinese) in ten replaced; unchanged with another question; and a
passage, half of a document or a document within a longer one. Prints a Markdown table.
"""

import argparse
import json
import random
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from data_pipeline.leaks.benchmarks import available
from data_pipeline.leaks.gate import leaks_in
from data_pipeline.leaks.index import BenchmarkIndex
from data_pipeline.leaks.shingles import words
from data_pipeline.sources.store import pair_of
from judge.files import open_text
from judge.types import Sample

ROWS, PLANTED = 10_000, 300
ROWS_A_DOCUMENT = 4
SHORTEST = 30
"""Shortest planted document, in words."""
_MARKS = ["", "!", " -", ";", "…", "\u3002", "\uff0c"]


# --- Synthetic documents ------------------------------------------------------------------------------------


def vocabulary(language: str, rng: random.Random) -> list[str]:
    """Made-up words, or common Chinese characters, ordered by their assumed frequency."""
    if language == "zh":
        found = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
    else:
        syllables = [a + b for a in "bcdfglmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is")]
        found = ["".join(rng.choices(syllables, k=rng.choice((1, 2, 2, 3)))) for _ in range(20_000)]
    rng.shuffle(found)
    return found


def synthetic(number: int, language: str, name: str) -> Iterator[Sample]:
    """Samples about documents with natural word frequencies (Zipf)."""
    rng = random.Random(f"0:{language}:{name}")
    known = vocabulary(language, random.Random(0))
    steps = list(accumulate(1 / (rank + 3) for rank in range(len(known))))
    joint = "" if language == "zh" else " "
    for count in range(number):

        def text(least: int, most: int) -> str:
            return joint.join(rng.choices(known, cum_weights=steps, k=rng.randint(least, most)))

        sentences = [text(6, 25) + ". " for _ in range(rng.randint(4, 20))]
        if len(sentences) > 12:
            sentences.insert(len(sentences) // 2, "\n\n")
        yield Sample(
            f"{name}-{count}", "".join(sentences), text(1, 12), text(5, 15) + "?", group=f"{name}-{count}"
        )  # fmt: skip


# --- Real documents -----------------------------------------------------------------------------------------


def real_documents(data_dir: Path) -> Iterator[Sample]:
    """Samples of question answering sets that are in no benchmark: of PubMedQA, those not in HaluBench."""
    squad = {
        "xquad": "xquad/xquad.en.json.gz",
        "covid-qa": "covid-qa/200423_covidQA.json.gz",
        "cmrc2018": "cmrc2018/cmrc2018_dev.json.gz",
        "drcd": "drcd/DRCD_dev.json.gz",
    }
    for name, file in squad.items():
        with open_text(data_dir / file) as stream:
            articles = json.load(stream)["data"]
        for number, article in enumerate(articles):
            for part, paragraph in enumerate(article["paragraphs"]):
                for item in paragraph["qas"]:
                    yield Sample(
                        f"{name}-{item['id']}", paragraph["context"], item["answers"][0]["text"],
                        item["question"], source=name, group=f"{name}-{number}-{part}",
                    )  # fmt: skip
    overlap = json.loads((data_dir / "halubench/train_overlap.json").read_text())["pubmedqa_pqal_pubids"]
    with open_text(data_dir / "pubmedqa/ori_pqal.json.gz") as stream:
        for name, row in json.load(stream).items():
            if int(name) not in {int(known) for known in overlap}:
                yield Sample(
                    f"pubmedqa-{name}", tuple(row["CONTEXTS"]), row["LONG_ANSWER"], row["QUESTION"],
                    source="pubmedqa", group=f"pubmedqa-{name}",
                )  # fmt: skip


# --- Leaks --------------------------------------------------------------------------------------------------


def _units(text: str) -> tuple[list[str], str]:
    chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in text) * 2 > len(text)
    return (list(text), "") if chinese else (text.split(), " ")


def restyled(text: str, rng: random.Random) -> str:
    """The same words with other case, spacing and punctuation."""
    units, joint = _units(text)
    styles = (str.upper, str.title, str.lower, str)
    # Some letters, such as the German sharp s, have no capital form.
    changed = [style(unit) if style(unit).casefold() == unit.casefold() else unit
               for unit in units for style in [rng.choice(styles)]]  # fmt: skip
    gaps = [joint, f"{joint}\n", "  ", *(f"{mark}{joint}" for mark in _MARKS)]
    return "".join(unit + rng.choice(gaps) for unit in changed)


def reworded(text: str, rng: random.Random, others: Sequence[str]) -> str:
    """One word in ten replaced by a word of another document."""
    units, joint = _units(text)
    pool, _ = _units(rng.choice(others))
    for place in rng.sample(range(len(units)), round(len(units) / 10)):
        units[place] = rng.choice(pool)
    return joint.join(units)


def partial(text: str, rng: random.Random, others: Sequence[str]) -> str:
    """A passage or a half of a text, or the text within another."""
    way = rng.randrange(3)
    parts = [part for part in text.split("\n\n") if len(words(part)) >= SHORTEST]
    if way == 0 and len(parts) > 1:
        return rng.choice(parts)
    if way == 1 and len(words(text)) >= 2 * SHORTEST:
        units, joint = _units(text)
        start = rng.randint(0, len(units) // 2)
        return joint.join(units[start : start + len(units) // 2])
    return f"{rng.choice(others)}\n\n{text}"


def planted(
    benchmark: Sequence[Sample], clean: Sequence[Sample], number: int, rng: random.Random
) -> list[Sample]:
    """``number`` leaks of each kind; ``meta["leak"]`` has the kind."""
    seeds = [sample for sample in benchmark if len(words(sample.document_text)) >= SHORTEST]
    asked = [sample for sample in seeds if sample.question]
    others = [sample.document_text for sample in clean]
    other = "What does the author of this say about it?"
    kinds: dict[str, Callable[[Sample], Sample]] = {
        "as it is": lambda sample: sample,
        "case, spacing, marks": lambda sample: replace(sample, document=restyled(sample.document_text, rng)),
        "one word in ten": lambda sample: replace(
            sample, document=reworded(sample.document_text, rng, others)
        ),
        "another question": lambda sample: replace(sample, question=other, answer="Nothing."),
        "part, or within another": lambda sample: replace(
            sample, document=partial(sample.document_text, rng, others), question=other, answer="Nothing."
        ),
    }
    found = []
    for kind, change in kinds.items():
        pool = asked if kind == "another question" and asked else seeds
        for place, seed in enumerate(rng.choices(pool, k=number)):
            name = f"{kind}-{place}"
            # Only the document is a leak: question and answer are not from a benchmark.
            found.append(replace(change(replace(seed, question="", answer=name)), id=name, group=name,
                                 meta={"leak": kind}))  # fmt: skip
    return found


def figures(index: BenchmarkIndex, rows: Sequence[Sample]) -> tuple[dict[str, tuple[int, int]], list[Sample]]:
    """Found and planted leaks of each kind, and the false alarms."""
    leaks = leaks_in(rows, index.check)
    kept = {sample.id for sample in rows if pair_of(sample) not in leaks}
    total = Counter(sample.meta["leak"] for sample in rows if "leak" in sample.meta)
    missed = Counter(sample.meta["leak"] for sample in rows if "leak" in sample.meta and sample.id in kept)
    wrong = [sample for sample in rows if "leak" not in sample.meta and sample.id not in kept]
    for sample in wrong:
        print("taken for a leak:", sample.id, leaks[sample.id])
    return {kind: (total[kind] - missed[kind], total[kind]) for kind in total}, wrong


def report(title: str, index: BenchmarkIndex, benchmark: Sequence[Sample], clean: Sequence[Sample]) -> None:
    rng = random.Random(0)
    leaks = planted(benchmark, clean, PLANTED, rng)
    rows = [*clean[: ROWS - len(leaks)], *leaks]
    rng.shuffle(rows)
    start = time.process_time()
    found, wrong = figures(index, rows)
    took = time.process_time() - start
    hits = sum(right for right, _ in found.values())
    print(f"\n## {title}: {len(rows)} rows, {len({s.document_text for s in rows})} documents, {took:.1f} s\n")
    print("| planted | found | recall |\n| --- | --- | --- |")
    for kind, (right, total) in found.items():
        print(f"| {kind} | {right} of {total} | {right / total:.2%} |")
    print(
        f"\nprecision {hits / (hits + len(wrong)):.2%}: {len(wrong)} of {len(clean)} clean rows were dropped"
    )


def speed(number: int, index: BenchmarkIndex) -> None:
    """Measure the gate on many rows, whose texts are made on the fly."""
    pool = list(synthetic(20_000, "en", "speed"))

    def read() -> Iterator[Sample]:
        for place in range(number // ROWS_A_DOCUMENT):
            seed = pool[place % len(pool)]
            document = f"{place} {seed.document_text} {place}"
            for count in range(ROWS_A_DOCUMENT):
                yield replace(seed, id=f"{place}-{count}", group=f"{place}", document=document,
                              answer=f"{pool[(place + count) % len(pool)].answer} {place}")  # fmt: skip

    start = time.process_time()
    for _ in read():
        pass
    made = time.process_time() - start
    start = time.process_time()
    leaks = leaks_in(read(), index.check)
    kept = sum(pair_of(sample) not in leaks for sample in read())
    took = time.process_time() - start - 2 * made
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    documents = number // ROWS_A_DOCUMENT
    print(f"\n{number} rows about {documents} documents, {kept} kept: {took:.0f} s of processor time, "
          f"{1000 * took / documents:.2f} ms a document, peak memory {peak:.2f} GiB")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall, precision and speed of the leak gate.")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--speed", type=int, metavar="ROWS")
    options = parser.parse_args()
    benchmark = [*synthetic(3000, "en", "benchmark"), *synthetic(1000, "zh", "benchmark")]
    clean = [*synthetic(7000, "en", "clean"), *synthetic(3000, "zh", "clean")]
    if options.data_dir is not None:
        samples, absent = available(options.data_dir)
        held = {name: list(found) for name, found in samples.items()}
        benchmark = [sample for found in held.values() for sample in found]
        clean = list(real_documents(options.data_dir))
        print("not found:", ", ".join(absent) or "none")
    random.Random(1).shuffle(clean)
    start = time.process_time()
    index = BenchmarkIndex.build({"all": benchmark} if options.data_dir is None else held)
    print(f"index of {len(benchmark)} samples: {time.process_time() - start:.1f} s")
    if options.speed:
        speed(options.speed, index)
    else:
        report("real" if options.data_dir else "synthetic", index, benchmark, clean)


if __name__ == "__main__":
    main()
