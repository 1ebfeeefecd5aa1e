"""Bi'anBench (Bi'an, appendix A): documents, questions and answers in English and Chinese, four tasks.

The set itself was never released. This reads files in its published form (Table 10): one object a sample with
``id, task, context, question, answer, label, source_ds``, where ``context`` is a text or a list of passages
and labels are ``PASS``/``FAIL`` or, in the Chinese prompt's words, 通过/失败. ``recipes/bianbench-rebuild``
makes such a set anew from its public sources.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from eval.benchmarks.base import Benchmark
from judge.errors import InputError, unknown
from judge.formats.files import find_file, group_of, need_folder
from judge.formats.records import Record, read_lines, read_records
from judge.prompting.prompts import LABEL_WORDS
from judge.types import Language, Sample, Task

ORIGINAL = "no public place (they were never released; recipes/bianbench-rebuild makes such a set)"
TASKS = {
    "Question Answering": Task.QA,
    "Summarization": Task.SUMMARIZATION,
    "Data-to-Text": Task.DATA2TEXT,
    "Machine Translation": Task.TRANSLATION,
}


def read(subset: str, data_dir: Path | None) -> Iterator[Sample]:
    """One subset from ``data_dir/bianbench/bianbench_SUBSET.jsonl``, or ``.json`` with a list."""
    folder = need_folder(data_dir, "Bi'anBench", "bianbench", ORIGINAL)
    names = [f"bianbench_{subset}.jsonl", f"bianbench_{subset}.json"]
    path = find_file(folder, "bianbench", names, ORIGINAL)
    lines = ".jsonl" in path.suffixes
    empty = True
    for row in read_lines(path) if lines else (record for _, record in read_records(path)):
        yield _sample(row, subset)
        empty = False
    if empty:
        raise InputError("holds no row", file=path)


def _sample(row: Record, subset: str) -> Sample:
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
    """That of the label's word, which is that of the prompt: a translation is of two languages."""
    return "zh" if row.text("label").strip() in LABEL_WORDS["zh"].values() else "en"


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By source, by task and by language, as in the paper's Tables 2, 3, 17 and 18."""
    return {"source": (sample.source,), "task": (sample.task.value,), "language": (sample.language,)}


def _subset(subset: str, size: int) -> Benchmark:
    return Benchmark(
        name=f"bianbench_{subset}",
        title=f"Bi'anBench {subset.upper()} (Bi'an)",
        read=partial(read, subset),
        rows=rows,
        size=size,
        notes=("The published set was never released: figures on a rebuilt one are no comparison.",),
    )


BIANBENCH_EN = _subset("en", 13_301)
BIANBENCH_ZH = _subset("zh", 7_757)
BIANBENCH_CF = _subset("cf", 1_934)
