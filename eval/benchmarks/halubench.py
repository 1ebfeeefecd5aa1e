"""HaluBench (Lynx, arXiv 2407.08488, section 4): PASS/FAIL question answering from six sources.

Released as one file of 14,900 rows with the columns ``id, passage, question, answer, label, source_ds``;
samples of it in the same columns are read too. Licence of the data: CC BY-NC 2.0.

``halubench`` is the release; ``halubench_held_out`` leaves out the rows of PubMedQA and COVID-QA about
documents that recipes may train on (:mod:`judge.formats.shared`).
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from eval.benchmarks.base import Benchmark
from judge.formats.files import find_file, group_of, hub_files
from judge.formats.records import Record, nonempty
from judge.formats.shared import halubench_side
from judge.rows import read_rows
from judge.types import Sample

HUB = "PatronusAI/HaluBench"
HUB_FILES = "data/*.parquet"
# The full release first, then samples of it.
NAMES = (
    "test-00000-of-00001.parquet", "data/test-00000-of-00001.parquet",
    "halubench.parquet", "halubench.csv", "halubench.jsonl", "halubench_1000.csv",
)  # fmt: skip


def read(data_dir: Path | None) -> Iterator[Sample]:
    """The samples of ``data_dir/halubench``, or from the Hub."""
    if data_dir is None:
        paths = hub_files(HUB, HUB_FILES)
    else:
        paths = [find_file(data_dir, "halubench", NAMES, f"huggingface.co/datasets/{HUB}")]
    for path in paths:
        yield from read_file(path)


def read_held_out(data_dir: Path | None) -> Iterator[Sample]:
    """The samples about documents that no recipe trains on."""
    return (
        sample for sample in read(data_dir)
        if halubench_side(sample.source, sample.document_text) == "benchmark"
    )  # fmt: skip


def read_file(path: Path) -> Iterator[Sample]:
    """The samples of one file with HaluBench's columns (``.parquet``, ``.csv`` or ``.jsonl``)."""
    used: dict[str, int] = {}
    for line, values in nonempty(read_rows(path), path):
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


HALUBENCH = Benchmark(
    name="halubench",
    title="HaluBench (Lynx, arXiv 2407.08488)",
    read=read,
    notes=(
        "Its RAGTruth part is the test split of RAGTruth's question answering.",
        "Two thirds of it are HaluEval's question answering, where the length of an answer gives it away.",
        "Recipes train on half of PubMedQA and COVID-QA: measure what they make on halubench_held_out.",
    ),
)
HALUBENCH_HELD_OUT = replace(
    HALUBENCH,
    name="halubench_held_out",
    title="HaluBench (Lynx, arXiv 2407.08488), the documents that recipes do not train on",
    read=read_held_out,
    of="halubench",
    notes=(
        "Of PubMedQA and COVID-QA half of the documents, drawn by a seed; the other half is trained on.",
        *HALUBENCH.notes[:2],
    ),
)
