"""The parts of a document for edits: its sentences, or the lines of a table; and how to remove some."""

import re
from collections import Counter
from collections.abc import Collection
from functools import lru_cache

from data_pipeline.text.leaning import depends_on_previous
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Span

PROSE = 0.8
"""From this share of text in lines that end like sentences, a document is prose."""
_LINE = re.compile(r"[^\n]+")
# Tokenised text has a space before each end mark, and often no capital after it.
_TOKENISED_END = re.compile(r"(?<= [.!?])(?: (?:''|[\"”]))?\s+(?=\S)")
_GOES_ON = re.compile(
    r"(?:He|She|They|There|Nobody|None|One of|His|Her|Their|Only \d+ of|For (?:example|instance)|This|These"
    r"|Such|Therefore|Thus|So|Hence|Instead|The (?:latter|former)"
    r"|(?:Before|After) (?:that|this))\b|例如|比如|譬如|具体|具體|这|這"
    r"|此(?![前外后後])|因此|所以|于是|於是"
)
"""Openings of sentences that mean nothing without the one before."""
_TURN = re.compile(r"\w[\w .’'-]{0,24}[:：]")
"""A line of a dialogue: somebody's name, and what they say."""


@lru_cache(maxsize=2048)
def parts_of(document: str) -> tuple[Span, ...]:
    """The removable parts of a document: its sentences, or whole lines of a table or triples."""
    lines = _lines(document)
    if len(lines) > 1 and sum("|" in document[line.start : line.end] for line in lines) > len(lines) / 2:
        return lines
    return tuple(part for sentence in sentence_spans(document) for part in _split(document, sentence))


def texts_of(document: str) -> list[str]:
    """The texts of its parts."""
    return [document[part.start : part.end] for part in parts_of(document)]


@lru_cache(maxsize=2048)
def is_table(document: str) -> bool:
    """Is it a record, or mostly lines that are cells, turns of a dialogue, or broken in mid-sentence?

    Deletions leave a gap there: a label without its figure, an answer without its question. A title, authors
    and headings above whole paragraphs do not make a table.
    """
    if document.lstrip()[:1] in ("{", "["):
        return True
    lines = [document[line.start : line.end] for line in _lines(document)]
    whole = [line for line in lines if re.search(r"[。！？.!?”\"]\s*$", line)]
    # Speakers of a dialogue speak more than once; "Date:" above an article occurs once.
    speakers = Counter(match[0] for line in lines if (match := _TURN.match(line)))
    turns = sum(count for count in speakers.values() if count > 1)
    broken = 2 * len(whole) < len(lines) and sum(map(len, whole)) < PROSE * sum(map(len, lines))
    return len(lines) > 3 and "|" not in lines[0] and (broken or turns > len(lines) / 2)


def leaves_hole(document: str, numbers: Collection[int], language: Language) -> bool:
    """Without some parts, does the rest depend on a removed one, or lack the subject of the whole text?

    Chinese texts name their subject in the first sentence and omit it in the others.
    """
    if language == "zh" and 0 in numbers:
        return True
    parts = parts_of(document)
    for number in numbers:
        if number + 1 < len(parts) and number + 1 not in numbers:
            text = document[parts[number + 1].start : parts[number + 1].end]
            if _GOES_ON.match(text) or (number == 0 and depends_on_previous(text, language)):
                return True
    return False


def without(document: str, numbers: Collection[int]) -> str:
    """A document without some of its parts and the spaces or line breaks that belong to them."""
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
    """Cut a sentence of the splitter at tokenised end marks."""
    found, start = [], sentence.start
    for end in _TOKENISED_END.finditer(document, sentence.start, sentence.end):
        found.append(Span(start, start + len(document[start : end.end()].rstrip())))
        start = end.end()
    return [*found, Span(start, sentence.end)]
