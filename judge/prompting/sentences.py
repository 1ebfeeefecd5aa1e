"""Finds the sentences of a text, in scripts with and without white space between them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from judge.types import Span

# An end mark with closing quotes and brackets, before white space and a new beginning; a Chinese or Japanese
# end mark anywhere; a line break. Titles and initials do not end a sentence.
_END = re.compile(
    r"(?<!(?<![A-Za-z])[A-Z])(?<!\b(?:Mr|Ms|Dr|St|No|vs))(?<!\b(?:Mrs|Gen|Inc|Ltd))(?<!\bProf)"
    r"[.!?]+[\"'\u201d\u2019)\]]*(?=\s+[^\sa-z.])"
    r"|[\u3002\uff01\uff1f]+[\u201d\u2019\u300d\u300f\uff09]*"
    r"|\n+"
)


@lru_cache(maxsize=512)
def sentence_spans(text: str) -> tuple[Span, ...]:
    """The sentences and lines of a text, without the white space around them, in order."""
    ends = [match.end() for match in _END.finditer(text)]
    spans = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        part = text[start:end]
        if part.strip():
            spans.append(Span(start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
    return tuple(spans)


_MARK = re.compile(r"[\W_]*(?:\d{1,3}|[A-Za-z])?[.):]?[\W_]*")
"""The marker of a list item (``1.``, ``b)``, ``-``), which says nothing by itself."""


def claim_spans(answer: str) -> tuple[Span, ...]:
    """The sentences and lines of an answer; the marker of a list item goes with the text after it."""
    found: list[Span] = []
    start: int | None = None
    for span in sentence_spans(answer):
        start = span.start if start is None else start
        if not _MARK.fullmatch(answer, span.start, span.end):
            found.append(Span(start, span.end))
            start = None
    if start is not None:  # nothing follows the last marker
        found.append(Span(found.pop().start if found else start, len(answer.rstrip())))
    return tuple(found)


def token_ranges(text: str, offsets: Sequence[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    """Split a text's tokens into ranges of at most ``most``, at ends of sentences where possible.

    Args:
        text: the text that was tokenized.
        offsets: start and end in the text of each token.
        most: maximum number of tokens per range.

    Yields:
        Start and end of each range; together they cover every token. Without tokens, one empty range.
    """
    if len(offsets) <= most:
        yield 0, len(offsets)
        return
    ends = {span.end for span in sentence_spans(text)}
    closing = [at for at, (_, end) in enumerate(offsets, start=1) if end in ends]
    start = 0
    while len(offsets) - start > most:
        before = bisect_right(closing, start + most)
        stop = closing[before - 1] if before and closing[before - 1] > start + most // 2 else start + most
        yield start, stop
        start = stop
    yield start, len(offsets)
