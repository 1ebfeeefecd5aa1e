"""The parts of a text, as spans of it: its sentences and lines, and the places where other words occur in it.

For example ``places_of("king  Wrote", "Ada King wrote it.")`` gives the span of "King wrote".
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache

from data_pipeline.edits.edit import lowered
from judge.prompting.sentences import sentence_spans
from judge.types import Span

_SHORTEST_PART = 20
_ENDS = (".", "!", "?", "。", "！", "？")
_SHORTENED = re.compile(
    r"\b(?:[ap]\.m|U\.S|U\.K|D\.C|e\.g|i\.e|vs|approx|Jr|Sr|St|Mt|Ft|Col|Lt|Sgt|Sen|Rep|Gov)\.$"
)
_WORDS = re.compile(r"\S+")
_OPENS, _ENDS_OPEN = re.compile(r"[^\W_\u4e00-\u9fff]"), re.compile(r"[^\W_\u4e00-\u9fff]$")
_GOES_BEFORE = re.compile(r"(?:[^\W_\u4e00-\u9fff]|\d[.,])\Z")
_GOES_ON = re.compile(r"[^\W_\u4e00-\u9fff]|[.,]\d")


def whole_sentences(text: str) -> list[Span]:
    """The sentences and lines of a text; a sentence that lines were broken in stays one."""
    found: list[Span] = []
    for span in sentence_spans(text):
        between = text[found[-1].end : span.start].strip(" \r") if found else ""
        broken = text[span.start].islower() and between == "\n"
        if found and (broken or (not between and _SHORTENED.search(text[found[-1].start : found[-1].end]))):
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found


def parts_of(document: str) -> list[Span]:
    """Sentences and lines; lines of a few characters, as of tables, are taken together."""
    found: list[Span] = []
    for span in whole_sentences(document):
        before = document[found[-1].start : found[-1].end] if found else ""
        if 0 < len(before) < _SHORTEST_PART and "|" not in before and not before.endswith(_ENDS):
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found or [Span(0, len(document))]


def places_of(text: str, document: str) -> Iterator[Span]:
    """Where a text stands in a document as whole words, whatever the white space and the case."""
    sought = lowered(" ".join(text.split()))
    flat, starts = _flat(document)
    at = flat.find(sought) if sought else -1
    if at < 0:
        return
    opens, ends = _OPENS.match(text) is not None, _ENDS_OPEN.search(text) is not None
    while at >= 0:
        start, end = starts[at], starts[at + len(sought) - 1] + 1
        cut = (opens and _GOES_BEFORE.search(document, max(start - 2, 0), start)) or (
            ends and _GOES_ON.match(document, end)
        )
        if not cut:
            yield Span(start, end)
        at = flat.find(sought, at + 1 if cut else at + len(sought))


@lru_cache(maxsize=16)
def _flat(document: str) -> tuple[str, Sequence[int]]:
    """A document in small letters with single spaces, and where in it each character stands."""
    characters: list[str] = []
    starts = array("q")
    for word in _WORDS.finditer(document):
        if characters:
            characters.append(" ")
            starts.append(word.start() - 1)
        characters.append(word[0])
        starts.extend(range(*word.span()))
    return lowered("".join(characters)), starts
