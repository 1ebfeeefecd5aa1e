"""What a document is made of, for edits: its sentences, or the lines of a table; and how one is taken out."""

import re
from collections.abc import Collection
from functools import lru_cache

from judge.prompting.sentences import sentence_spans
from judge.types import Span

_LINE = re.compile(r"[^\n]+")
# Text that was split into tokens has a space before each end mark, and often no capital after it.
_TOKENISED_END = re.compile(r"(?<= [.!?])(?: (?:''|[\"”]))?\s+(?=\S)")
_FEW_WORDS = 5
"""Of a line that is a cell or a heading rather than a sentence."""


@lru_cache(maxsize=2048)
def parts_of(document: str) -> tuple[Span, ...]:
    """What can be taken out of a document: its sentences; whole lines where it is a table or triples."""
    lines = _lines(document)
    if len(lines) > 1 and sum("|" in document[line.start : line.end] for line in lines) > len(lines) / 2:
        return lines
    return tuple(part for sentence in sentence_spans(document) for part in _split(document, sentence))


def is_table(document: str) -> bool:
    """Is it a record, or mostly lines that are cells? A cell that is gone leaves a table out of step."""
    if document.lstrip()[:1] in ("{", "["):
        return True
    lines = [document[line.start : line.end] for line in _lines(document)]
    short = sum(len(line.split()) < _FEW_WORDS and not re.search(r"[。！？.!?]$", line) for line in lines)
    return len(lines) > 3 and "|" not in lines[0] and short > len(lines) / 2


def without(document: str, numbers: Collection[int]) -> str:
    """A document less some of its parts, with the spaces or the line break that belonged to them."""
    kept, start = "", 0
    for number, part in enumerate(parts_of(document)):
        if number in numbers:
            kept += document[start : part.start]
            after = document[part.end :]
            own_line = kept[-1:] in ("", "\n") and after[:1] == "\n"
            start = len(document) - len(after[1:] if own_line else after.lstrip(" "))
    return re.sub(r"\n{3,}", "\n\n", (kept + document[start:]).strip())


def _lines(document: str) -> tuple[Span, ...]:
    found = (Span(match.start(), match.end()) for match in _LINE.finditer(document))
    return tuple(line for line in found if document[line.start : line.end].strip())


def _split(document: str, sentence: Span) -> list[Span]:
    """A sentence of the splitter, at the end marks that stand alone."""
    found, start = [], sentence.start
    for end in _TOKENISED_END.finditer(document, sentence.start, sentence.end):
        found.append(Span(start, start + len(document[start : end.end()].rstrip())))
        start = end.end()
    return [*found, Span(start, sentence.end)]
