"""CRUD-RAG (arXiv 2401.17043): questions over one to three Chinese news reports, and event summaries."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file, group_of
from judge.formats.records import read_object
from judge.types import Sample, Task

ORIGINAL = "github.com/IAAR-Shanghai/CRUD_RAG, folder data"
NAMES = ("merged.json", "crud/merged.json", "split_merged.json", "crud_split/split_merged.json")
QUESTIONS = {
    "questanswer_1doc": ("news1",),
    "questanswer_2docs": ("news1", "news2"),
    "questanswer_3docs": ("news1", "news2", "news3"),
}


def read(data_dir: Path) -> Iterator[Sample]:
    """Questions and summaries of ``data_dir/crud``: the whole set, or the part that its paper uses.

    Ids are the part of the file and the row from 0. Rows without a question or an answer are left out.
    """
    whole = read_object(find_file(data_dir, "crud", NAMES, ORIGINAL))
    for part, fields in QUESTIONS.items():
        for number, row in enumerate(whole.records(part, empty=True)):
            question, answer = row.text("questions", empty=True), row.text("answers", empty=True)
            if question.strip() and answer.strip():
                news = [row.text(field) for field in fields]
                yield _sample(f"{part}-{number}", Task.QA, news, question, answer)
    for number, row in enumerate(whole.records("event_summary", empty=True)):
        news, answer = [row.text("text")], row.text("summary")
        yield _sample(f"event_summary-{number}", Task.SUMMARIZATION, news, "", answer)


def _sample(name: str, task: Task, news: list[str], question: str, answer: str) -> Sample:
    return Sample(
        id=f"crud-{name}",
        document=tuple(news) if len(news) > 1 else news[0],
        question=question,
        answer=answer,
        task=task,
        language="zh",
        source=f"crud_{task}",
        group=group_of(news[0]),  # a report comes back in other rows
    )
