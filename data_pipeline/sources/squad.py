"""Files in SQuAD's form (arXiv 1606.05250): paragraphs, questions, and answers cut from the paragraph."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judge.formats.files import group_of
from judge.formats.records import Record, read_object
from judge.types import Language, Sample, Task


def read(path: Path, source: str, language: Language, prefix: str | None = None) -> Iterator[Sample]:
    """The answerable questions of one file, each with the first of its answers.

    Args:
        source: name of the set.
        prefix: start of the ids; the name of the set by default.
    """
    for document, question in read_questions(path):
        answer = question.records("answers")[0]
        yield Sample(
            id=f"{prefix or source}-{question.name('id')}",
            document=document,
            question=question.text("question").strip(),
            answer=answer.text("text").strip(),
            task=Task.QA,
            language=language,
            source=source,
            group=group_of(document),
        )


def read_rows(path: Path) -> Iterator[Record]:
    """All questions of one file as flat rows, with the plausible answers of those that have no answer (SQuAD
    2.0)."""
    for article in read_object(path).records("data"):
        for paragraph in article.records("paragraphs"):
            for question in paragraph.records("qas", empty=True):
                row = {
                    "id": question.name("id"),
                    "document": paragraph.text("context"),
                    "question": question.text("question").strip(),
                    "answers": question.get("answers"),
                    "plausible_answers": question.values.get("plausible_answers", []),
                }
                yield replace(question, values=row)


def read_questions(path: Path) -> Iterator[tuple[str, Record]]:
    """Pairs of a paragraph's text and a question that it answers (SQuAD 2.0 has others too)."""
    for article in read_object(path).records("data"):
        for paragraph in article.records("paragraphs"):
            document = paragraph.text("context")
            for question in paragraph.records("qas", empty=True):
                if question.records("answers", empty=True):
                    yield document, question
