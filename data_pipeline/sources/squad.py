"""Files in SQuAD's format (arXiv 1606.05250): paragraphs, questions, and answers cut from the paragraph."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from data_pipeline.sources.windows import WINDOW_TOKENS, window
from judge.formats.files import group_of
from judge.formats.records import Record, read_object
from judge.types import Language, Sample


def read(
    path: Path,
    source: str,
    language: Language,
    prefix: str | None = None,
    window_tokens: int = WINDOW_TOKENS,
    wanted: Callable[[str], bool] = lambda paragraph: True,
) -> Iterator[Sample]:
    """The answerable questions of one file, each with its first answer (SQuAD 2.0 has others too).

    The document is the paragraph, or for a long one (COVID-QA's are whole articles) the window that holds
    the answer (:mod:`data_pipeline.sources.windows`). The group is that of the whole paragraph.

    Args:
        source: name of the set.
        prefix: start of the ids; the name of the set by default.
        window_tokens: keep at most about this many tokens of a paragraph.
        wanted: tells whether to read the questions of a paragraph.
    """
    for document, question in _questions(path):
        if not question.records("answers", empty=True) or not wanted(document):
            continue
        answer = question.records("answers")[0]
        yield Sample(
            id=f"{prefix or source}-{question.name('id')}",
            document=_window(document, answer, window_tokens),
            question=question.text("question").strip(),
            answer=answer.text("text").strip(),
            language=language,
            source=source,
            group=group_of(document),
        )


def read_rows(path: Path, window_tokens: int = WINDOW_TOKENS) -> Iterator[Record]:
    """All questions of one file as flat rows, unanswerable ones with their plausible answers (SQuAD 2.0);
    documents as in :func:`read`."""
    for document, question in _questions(path):
        found = [
            answer
            for key in ("answers", "plausible_answers")
            if isinstance(question.values.get(key), list)
            for answer in question.records(key, empty=True)
        ]
        row = {
            "id": question.name("id"),
            "document": _window(document, found[0], window_tokens) if found else document,
            "group": group_of(document),
            "question": question.text("question").strip(),
            "answers": question.get("answers"),
            "plausible_answers": question.values.get("plausible_answers", []),
        }
        yield replace(question, values=row)


def _questions(path: Path) -> Iterator[tuple[str, Record]]:
    """Every question of a file, after its paragraph."""
    for article in read_object(path).records("data"):
        for paragraph in article.records("paragraphs"):
            for question in paragraph.records("qas", empty=True):
                yield paragraph.text("context"), question


def _window(paragraph: str, answer: Record, tokens: int) -> str:
    """The window that holds an answer; the whole paragraph if it does not contain the answer.

    ``answer_start`` is off by a few characters in some files, so the occurrence nearest to it is taken.
    """
    text = answer.text("text").strip()
    named = answer.values.get("answer_start")
    near = named if type(named) is int else 0
    before, behind = paragraph.rfind(text, 0, max(near, 0) + len(text)), paragraph.find(text, max(near, 0))
    places = [place for place in (before, behind) if place >= 0]
    if not places:
        return paragraph
    start = min(places, key=lambda place: abs(place - near))
    return window(paragraph, start, start + len(text), tokens)
