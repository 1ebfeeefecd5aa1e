"""Reads and writes Bi'anBench's format (Bi'an, Table 10): one object per sample with
``id, task, context, question, answer, label, source_ds``.

``context`` is a text or a list of passages; labels are ``PASS``/``FAIL`` or, in the Chinese prompt's words,
通过/失败; translations also have their direction as ``type``. The set itself was never released:
``recipes/bianbench`` rebuilds one from its public sources.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from judge.errors import InputError, unknown
from judge.formats.files import find_file, group_of, need_folder
from judge.formats.records import Record, nonempty, read_lines, read_records
from judge.types import Label, Language, Sample, Task

Subset = Literal["en", "zh", "cf"]
"""English, Chinese, and the counterfactual questions of both languages."""

ORIGINAL = "no public place (they were never released; recipes/bianbench makes such a set)"
TASKS = {
    "Question Answering": Task.QA,
    "Summarization": Task.SUMMARIZATION,
    "Data-to-Text": Task.DATA2TEXT,
    "Machine Translation": Task.TRANSLATION,
}
LABELS: Mapping[Language, Mapping[Label, str]] = {
    "en": {Label.PASS: "PASS", Label.FAIL: "FAIL"},
    "zh": {Label.PASS: "通过", Label.FAIL: "失败"},
}
"""The label words of both languages."""
SOURCES: Mapping[str, str] = {
    "asqa": "ASQA",
    "conflictqa": "ConflictQA",
    "covid_qa": "CovidQA",
    "crud_qa": "CRUD_MDQA",
    "crud_summarization": "CRUD_sum",
    "csds": "CSDS",
    "drop": "DROP",
    "fib_cnn_dm": "FIB",
    "fib_xsum": "FIB",
    "financebench": "FinanceBench",
    "halueval_qa": "HaluEval_qa",
    "halueval_summarization": "HaluEval_sum",
    "ifqa": "IfQA",
    "lawbench_qa": "LawBench_RC",
    "lawbench_summarization": "LawBench_sum",
    "pdc": "PDC",
    "pubmedqa": "PubMedQA",
    "ragtruth_data2txt": "RAGTruth_d2t",
    "ragtruth_qa": "RAGTruth_qa",
    "webcpm": "WebCPM-LFQA",
    "webnlg": "WebNLG",
    "webqa": "WebQA1.0",
    "wmt21": "WMT21",
}
"""Names of sources in this project to those in the paper's tables."""
_NAMES = {task: name for name, task in TASKS.items()}


def file_name(subset: Subset) -> str:
    """The name of a subset's file."""
    return f"bianbench_{subset}.jsonl"


def read(subset: Subset, data_dir: Path | None) -> Iterator[Sample]:
    """One subset from ``data_dir/bianbench/bianbench_SUBSET.jsonl``, or ``.json`` with a list."""
    folder = need_folder(data_dir, "Bi'anBench", "bianbench", ORIGINAL)
    name = file_name(subset)
    path = find_file(folder, "bianbench", [name, name.removesuffix("l")], ORIGINAL)
    lines = ".jsonl" in path.suffixes
    rows = read_lines(path) if lines else (record for _, record in read_records(path))
    for row in nonempty(rows, path):
        yield _sample(row, subset)


def to_row(sample: Sample, number: int) -> dict[str, Any]:
    """A labelled sample in the format of Table 10, with ``number`` as its id.

    Raises:
        InputError: if the sample has no label, or a task that Bi'anBench does not have.
    """
    if sample.label is None or sample.task not in _NAMES:
        what = "has no label" if sample.label is None else f"is of the task {sample.task.value}"
        raise InputError(f"sample {sample.id!r} {what}; Bi'anBench takes labelled ones of {', '.join(TASKS)}")
    row: dict[str, Any] = {
        "id": number,
        "task": _NAMES[sample.task],
        "context": sample.document if isinstance(sample.document, str) else list(sample.document),
        "question": sample.question,
        "answer": sample.answer,
        "label": LABELS[sample.language][sample.label],
        "source_ds": SOURCES.get(sample.source, sample.source),
    }
    if sample.task is Task.TRANSLATION:
        row["type"] = "en2zh" if sample.language == "zh" else "zh2en"
    return row


def _sample(row: Record, subset: Subset) -> Sample:
    task = row.text("task")
    if task not in TASKS:
        raise row.wrong("task", unknown("task", task, TASKS))
    listed = isinstance(row.get("context"), list)
    document = tuple(row.texts("context")) if listed else row.text("context")
    text = document if isinstance(document, str) else "\n\n".join(document)
    source = row.text("source_ds")
    return Sample(
        id=f"bianbench-{subset}-{row.name('id')}",
        document=document,
        question=row.text("question", empty=True),
        answer=row.text("answer"),
        task=TASKS[task],
        language=_language(row),
        label=row.label("label"),
        source=source,
        group=group_of(text),
    )


def _language(row: Record) -> Language:
    """The language of the label word, which is the prompt's, since a translation has two languages."""
    return "zh" if row.text("label").strip() in LABELS["zh"].values() else "en"
