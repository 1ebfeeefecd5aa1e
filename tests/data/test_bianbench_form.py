"""Bi'anBench's form (Bi'an, Table 10): a build writes it, and the benchmarks read the same samples back."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from data_pipeline.build.pipeline import build
from eval.benchmarks import get_benchmark
from eval.published.figures import published
from judge.errors import InputError
from judge.formats.bianbench import SOURCES, to_row
from judge.samples import read_samples
from judge.types import Label, Sample, Task
from tests.tiny_data import labelled_recipe, rows_of

TASKS = (Task.QA, Task.SUMMARIZATION, Task.DATA2TEXT, Task.TRANSLATION)


def labelled() -> list[Sample]:
    """Samples of every task in both languages, some in passages, some of sources with a printed name."""
    return [
        Sample(
            id=f"{language}-{task.value}-{number}",
            document=(f"Passage {number}.", f"{task.value} {language}")
            if task is Task.QA
            else f"Text {number}.",
            question=f"Question {number}?" if task is Task.QA else "",
            answer=f"Answer {number}.",
            task=task,
            language=language,
            label=list(Label)[number % 2],
            source="lawbench_qa" if number % 3 else "mine",
            group=f"{language}-{task.value}-{number}",
        )
        for language in ("en", "zh")
        for task in TASKS
        for number in range(4)
    ]


def make(folder: Path, samples: Sequence[Sample], subsets: Sequence[str]) -> Path:
    settings = {"max_repeated": 1, "splits": {"validation": 0.4, "test": 0.0}, "bianbench": subsets}
    build(labelled_recipe(folder, samples, **settings))
    return folder / "data"


@pytest.mark.parametrize("subsets", [("en", "zh"), ("cf",)])
def test_what_is_written_is_read_back(subsets: Sequence[str], tmp_path: Path) -> None:
    data = make(tmp_path, labelled(), subsets)
    built = list(read_samples(data / "samples.jsonl"))
    assert {path.stem for path in (data / "bianbench").iterdir()} == {f"bianbench_{name}" for name in subsets}
    for subset in subsets:
        wanted = [sample for sample in built if subset in ("cf", sample.language)]
        found = get_benchmark(f"bianbench_{subset}").load(data)
        assert len(found) == len(wanted) == (32 if subset == "cf" else 16)
        for one, other in zip(found, wanted, strict=True):
            assert one.source == SOURCES.get(other.source, other.source)
            for field in ("document", "question", "answer", "task", "language", "label"):
                assert getattr(one, field) == getattr(other, field)


def test_rows_are_as_in_table_10(tmp_path: Path) -> None:
    data = make(tmp_path, labelled(), ["zh"])
    rows = rows_of(data / "bianbench/bianbench_zh.jsonl")
    assert [row["id"] for row in rows] == list(range(16))
    fields = ["id", "task", "context", "question", "answer", "label", "source_ds"]
    assert {tuple(row) for row in rows} == {(*fields,), (*fields, "type")}
    assert {row["label"] for row in rows} == {"通过", "失败"}
    assert {row.get("type") for row in rows if row["task"] == "Machine Translation"} == {"en2zh"}
    assert {type(row["context"]) for row in rows} == {str, list}


def test_sources_have_the_names_of_the_printed_tables() -> None:
    printed = {part for name in ("en", "zh") for part in published(f"bianbench_{name}")[0].parts}
    assert set(SOURCES.values()) - {"ConflictQA"} == printed


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample("s", "d", "a"), "has no label"),
        (Sample("s", "d", "a", label=Label.PASS, task=Task.DIALOGUE), "is of the task dialogue"),
    ],
)
def test_samples_that_it_cannot_hold(sample: Sample, message: str) -> None:
    with pytest.raises(InputError, match=f"'s' {message}"):
        to_row(sample, 0)


def test_a_sample_is_of_one_subset(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cf takes the samples"):
        make(tmp_path, labelled(), ["en", "cf"])
