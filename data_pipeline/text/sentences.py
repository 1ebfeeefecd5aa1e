"""The sentences of documents and answers, as far as they can be quoted or judged alone."""

import re

from judge.prompting.sentences import sentence_spans
from judge.types import Span

_SHORTEST = 20
_ENDS = (".", "!", "?", "。", "！", "？")
_SHORTENED = re.compile(
    r"\b(?:[ap]\.m|U\.S|U\.K|D\.C|e\.g|i\.e|vs|approx|Jr|Sr|St|Mt|Ft|Col|Lt|Sgt|Sen|Rep|Gov)\.$"
)


def whole_sentences(text: str, rows: bool = False) -> list[Span]:
    """The sentences and lines of a text; a sentence that lines were broken in stays one.

    Lines of a few characters, as of tables, are taken together where ``rows`` are wanted.
    """
    found: list[Span] = []
    for span in sentence_spans(text):
        if found:
            before, between = (
                text[found[-1].start : found[-1].end],
                text[found[-1].end : span.start].strip(" \r"),
            )
            broken = text[span.start].islower() and between == "\n"
            row = rows and len(before) < _SHORTEST and "|" not in before and not before.endswith(_ENDS)
            if broken or row or (not between and _SHORTENED.search(before)):
                span = Span(found.pop().start, span.end)
        found.append(span)
    return found
