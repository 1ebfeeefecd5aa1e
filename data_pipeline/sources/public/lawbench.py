"""LawBench (arXiv 2309.16289): Chinese reading comprehension (2-5) and summaries of news (2-7) from law."""

import re
from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file, group_of
from judge.formats.records import read_records
from judge.types import Sample, Task

ORIGINAL = "github.com/open-compass/LawBench, folder data/zero_shot"
# Paragraph and question stand in one text, each behind its name and a colon; so does the answer.
_QUESTION = re.compile("段落[:\uff1a](.+)问题[:\uff1a](.+)", re.DOTALL)
_ANSWER = re.compile("^回答[:\uff1a]")


def read(data_dir: Path) -> Iterator[Sample]:
    """Questions, then summaries, of ``data_dir/lawbench``: files ``2-5.json`` and ``2-7.json``."""
    for number, row in read_records(find_file(data_dir, "lawbench", ["2-5.json"], ORIGINAL)):
        found = _QUESTION.fullmatch(row.text("question").strip())
        if found is None:
            raise row.wrong("question", f"holds no paragraph with a question: {row.text('question')!r:.60}")
        answer = _ANSWER.sub("", row.text("answer").strip())
        yield _sample(f"2-5-{number}", Task.QA, found[1].strip(), found[2].strip(), answer)
    for number, row in read_records(find_file(data_dir, "lawbench", ["2-7.json"], ORIGINAL)):
        document, answer = row.text("question").strip(), row.text("answer").strip()
        yield _sample(f"2-7-{number}", Task.SUMMARIZATION, document, "", answer)


def _sample(name: str, task: Task, document: str, question: str, answer: str) -> Sample:
    return Sample(
        id=f"lawbench-{name}",
        document=document,
        question=question,
        answer=answer,
        task=task,
        language="zh",
        source=f"lawbench_{task}",
        group=group_of(document),
    )
