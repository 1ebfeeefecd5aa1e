"""The sentences of an answer that are judged one by one."""

import re

from judge.prompting.sentences import sentence_spans
from judge.types import Span

_MARK = re.compile(r"[\W_]*(?:\d{1,3}|[A-Za-z])?[.):]?[\W_]*")
"""What stands before an item of a list (``1.``, ``b)``, ``-``): it says nothing by itself."""


def claim_spans(answer: str) -> tuple[Span, ...]:
    """The sentences and lines of an answer, the marks of a list with what follows them."""
    found: list[Span] = []
    start: int | None = None
    for span in sentence_spans(answer):
        start = span.start if start is None else start
        if not _MARK.fullmatch(answer, span.start, span.end):
            found.append(Span(start, span.end))
            start = None
    if start is not None:  # nothing follows the last mark
        found.append(Span(found.pop().start if found else start, len(answer.rstrip())))
    return tuple(found)
