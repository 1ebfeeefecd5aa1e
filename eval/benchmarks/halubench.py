"""HaluBench (Lynx, arXiv 2407.08488, section 4): PASS/FAIL question answering from six sources.

Released as one file of 14,900 rows with the columns ``id, passage, question, answer, label, source_ds``;
samples of it in the same columns are read too. Licence of the data: CC BY-NC 2.0.
"""

from collections.abc import Iterator
from pathlib import Path

from eval.benchmarks.base import Benchmark
from judge.errors import InputError
from judge.formats.files import find_file, group_of, hub_files
from judge.formats.records import Record
from judge.samples import read_rows
from judge.types import Sample

HUB = "PatronusAI/HaluBench"
HUB_FILES = "data/*.parquet"
# The full release first; then samples of it.
NAMES = (
    "test-00000-of-00001.parquet", "data/test-00000-of-00001.parquet",
    "halubench.parquet", "halubench.csv", "halubench.jsonl", "halubench_1000.csv",
)  # fmt: skip


def read(data_dir: Path | None) -> Iterator[Sample]:
    """The samples of ``data_dir/halubench``, or of the Hub."""
    if data_dir is None:
        paths = hub_files(HUB, HUB_FILES)
    else:
        paths = [find_file(data_dir, "halubench", NAMES, f"huggingface.co/datasets/{HUB}")]
    for path in paths:
        yield from read_file(path)


def read_file(path: Path) -> Iterator[Sample]:
    """The samples of one file with HaluBench's columns (``.parquet``, ``.csv`` or ``.jsonl``)."""
    used: dict[str, int] = {}
    for line, values in read_rows(path):
        row = Record(values, path, line)
        document = row.text("passage")
        name = str(values.get("id", f"row-{line}"))
        # Ids come from six sources and are only unique within each.
        used[name] = used.get(name, 0) + 1
        yield Sample(
            id=name if used[name] == 1 else f"{name}#{used[name]}",
            document=document,
            question=row.text("question"),
            answer=row.text("answer"),
            label=row.label("label"),
            source=row.text("source_ds"),
            group=group_of(document),
        )
    if not used:
        raise InputError("holds no row", file=path)


HALUBENCH = Benchmark(
    name="halubench",
    title="HaluBench (Lynx, arXiv 2407.08488)",
    read=read,
    size=14_900,
    notes=(
        "Its RAGTruth part is the test split of RAGTruth's question answering.",
        "Two thirds of it are HaluEval's question answering, where the length of an answer gives it away.",
    ),
)
