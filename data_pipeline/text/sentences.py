"""The sentences of documents and answers, and where one text occurs in another."""

import re
from collections.abc import Iterator

from judge.prompting.sentences import sentence_spans
from judge.types import Span

_SHORTEST = 20
_ENDS = (".", "!", "?", "。", "！", "？")
_SHORTENED = re.compile(
    r"\b(?:[ap]\.m|U\.S|U\.K|D\.C|e\.g|i\.e|vs|approx|Jr|Sr|St|Mt|Ft|Col|Lt|Sgt|Sen|Rep|Gov)\.$"
)
LETTER = r"[^\W_\u4e00-\u9fff]"
"""A letter or digit, but no Chinese character: these have no word boundaries."""
_OPENS, _CLOSES = re.compile(LETTER), re.compile(rf"{LETTER}$")
_GOES_BEFORE, _GOES_ON = re.compile(rf"(?:{LETTER}|\d[.,])\Z"), re.compile(rf"{LETTER}|[.,]\d")


def whole_sentences(text: str, rows: bool = False) -> list[Span]:
    """The sentences and lines of a text; a sentence broken over lines stays one.

    With ``rows``, lines of a few characters, as in tables, are joined.
    """
    found: list[Span] = []
    for span in sentence_spans(text):
        if found:
            before = text[found[-1].start : found[-1].end]
            between = text[found[-1].end : span.start].strip(" \r")
            broken = text[span.start].islower() and between == "\n"
            row = rows and len(before) < _SHORTEST and "|" not in before and not before.endswith(_ENDS)
            if broken or row or (not between and _SHORTENED.search(before)):
                span = Span(found.pop().start, span.end)
        found.append(span)
    return found


def starts_of(part: str, text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """The start of every occurrence of ``part`` between two positions of a text, exactly as it is written."""
    at = text.find(part, start, end)
    while at >= 0:
        yield at
        at = text.find(part, at + 1, end)


def places_of(text: str, document: str) -> Iterator[Span]:
    """Where a text occurs in a document as whole words, ignoring white space and case."""
    words = text.split()
    if not words or words[0].lower() not in document.lower():
        return
    opens, closes = _OPENS.match(text), _CLOSES.search(text)
    for match in re.finditer(r"\s+".join(map(re.escape, words)), document, re.I):
        start, end = match.span()
        before = opens and _GOES_BEFORE.search(document, max(start - 2, 0), start)
        if not before and not (closes and _GOES_ON.match(document, end)):
            yield Span(start, end)
