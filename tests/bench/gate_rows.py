"""What the leak gate takes from the sets that are at hand: rows by source and label, before and after.

    python -m tests.bench.gate_rows --data-dir DIR                  # the benchmarks that are there
    python -m tests.bench.gate_rows --data-dir DIR --covid whole    # and HaluBench with articles of COVID-QA
    python -m tests.bench.gate_rows --data-dir DIR --covid passage  # and with 200 words around each answer

``whole`` is a set as released, ``source`` the side of it that recipes read. HaluBench's rows of COVID-QA are
seldom at hand: ``--covid`` puts 500 questions of that set in their place, drawn by the seed, and counts
nothing else.
"""

import argparse
import csv
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from data_pipeline.config import LeaksConfig
from data_pipeline.gating import LeakGate
from data_pipeline.leaks import Gate
from data_pipeline.sources import SourceConfig, covid_qa, read_source
from data_pipeline.sources.squad import read_questions
from judge.formats.files import find_file
from judge.formats.shared import SOURCE_SHARE, halubench_side

SOURCES: tuple[dict[str, Any], ...] = (
    {"kind": "pubmedqa", "split": "pqal"},
    {"kind": "covid_qa"},
    {"kind": "fib", "perturb": False},
    {"kind": "ragtruth", "perturb": False},
    {"kind": "financebench"},
)
QUESTIONS, WORDS = 500, 200


def main() -> None:
    """Print a row for each source and label."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True, help="one folder a set, in original files")
    parser.add_argument("--covid", choices=("whole", "passage"), help="what HaluBench shows of COVID-QA")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        benchmarks = args.data_dir
        if args.covid:
            benchmarks = Path(name)
            for folder in args.data_dir.iterdir():
                if folder.name != "halubench":
                    (benchmarks / folder.name).symlink_to(folder.resolve())
            (benchmarks / "halubench").mkdir()
            for file in (args.data_dir / "halubench").glob("*.csv*"):
                (benchmarks / "halubench" / file.name).symlink_to(file.resolve())
            rows = list(covid_rows(args.data_dir, args.covid == "passage", args.seed))
            with (benchmarks / "halubench/covid.csv").open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            held_out = sum(halubench_side("covidQA", row["passage"]) == "benchmark" for row in rows)
            print(f"halubench_held_out keeps {held_out} of these {len(rows)} rows")
        gate = LeakGate(LeaksConfig(data_dir=str(benchmarks)))
        print("| source | label | side | read | kept | dropped |")
        print("| --- | --- | --- | ---: | ---: | ---: |")
        for keys in SOURCES:
            if args.covid and keys["kind"] != "covid_qa":
                continue
            for side in ("whole", "source") if keys["kind"] in SOURCE_SHARE else ("",):
                count(keys | ({"side": side} if side else {}), args, gate, side)


def count(keys: dict[str, Any], args: argparse.Namespace, gate: LeakGate, side: str) -> None:
    """Print what the gate keeps of one source."""
    source = SourceConfig(path=str(args.data_dir), **keys)
    read = partial(read_source, source, args.seed)
    before = Counter((sample.source, str(sample.label or "gold")) for sample in read())
    after = Counter((sample.source, str(sample.label or "gold")) for sample in Gate(read, gate.check).kept())
    for row, rows in sorted(before.items()):
        lost = 1 - after[row] / rows
        print(f"| {row[0]} | {row[1]} | {side} | {rows:,} | {after[row]:,} | {lost:.1%} |", flush=True)


def covid_rows(data_dir: Path, passages: bool, seed: int) -> Iterator[dict[str, str]]:
    """Questions of COVID-QA as HaluBench's rows, with whole articles or the words around the answer."""
    path = find_file(data_dir, "covid-qa", covid_qa.NAMES, covid_qa.ORIGINAL)
    drawn = random.Random(seed).sample(list(read_questions(path)), QUESTIONS)
    for document, question in drawn:
        answer = question.records("answers")[0]
        text, start = answer.text("text"), int(answer.get("answer_start"))
        if passages:
            before, after = document[:start], document[start + len(text) :]
            room = max(WORDS - len(text.split()), 0) // 2
            left = re.findall(r"\S+\s*", before)[-room:] if room else []
            right = re.findall(r"\s*\S+", after)[:room]
            document = "".join([*left, text, *right])
        yield {
            "id": question.name("id"),
            "passage": document,
            "question": question.text("question"),
            "answer": text,
            "label": "PASS",
            "source_ds": "covidQA",
        }


if __name__ == "__main__":
    main()
