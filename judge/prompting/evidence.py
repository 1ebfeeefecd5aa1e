"""Locates the quotes in a judge's reasoning: in the document (evidence) or the answer (unsupported).

Judges are not asked for places, but a reasoning quotes what it finds right or wrong. A quote is first looked
up word for word, in the document and then in the answer, because a small model's quotes of the answer
resemble the document. Only a quote found in neither is matched with words left out or changed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from judge.types import Label, Language, Span

ALIKE = 0.7
"""A span with at least this share of common words in order (difflib's ratio) counts as quoted."""
FEWEST_WORDS = 4
"""A shorter quote is only matched word for word, since too much text resembles it."""
_CANDIDATES = 20
"""How many of the spans that share most words with a quote are compared word by word."""

_LATIN = r"[^\W\u3400-\u9fff]"  # character of a word with boundaries; Chinese has none
# No such character before or after: (?<!LATIN) and (?!LATIN) in a form that compiles fifty times as fast when
# letter case is ignored.
_BEGINS = r"(?:(?<!\w)|(?<=(?-i:[\u3400-\u9fff])))"
_ENDS = r"(?:(?!\w)|(?=(?-i:[\u3400-\u9fff])))"
_WORD = re.compile(rf"{_LATIN}+|[\u3400-\u9fff]")
_QUOTE = re.compile(
    r'"([^"\n]+)"|\u201c([^\u201d\n]+)\u201d|\u2018([^\u2019\n]+)\u2019|\u300c([^\u300d\n]+)\u300d'
    r"|(?<!\w)'(?=\S)([^\n']+(?:'\w[^\n']*)*)(?<=\S)'(?!\w)"
)
_LEFT_OUT = re.compile(r"\[?(?:\u2026|\.{3,})\]?")
_EDGE = " \t,.;:!?\u3002\uff0c\uff1b\uff1a\uff01\uff1f"


def cite(
    document: str, answer: str, label: Label | None, reasoning: str | None
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Find the quotes of a reasoning.

    Returns:
        ``evidence``: the first place of each quote in the document. ``unsupported``: all places in the
        answer of quotes that are not in the document, only for a ``FAIL``. Both in order, without duplicates.
    """
    evidence: set[Span] = set()
    unsupported: set[Span] = set()
    for quote in quotes(reasoning or ""):
        if found := exact(quote, document):
            evidence.add(found[0])
        elif found := exact(quote, answer):
            unsupported.update(found)
        elif near := alike(quote, document):
            evidence.add(near)
        elif near := alike(quote, answer):
            unsupported.add(near)
    return _ordered(evidence), _ordered(unsupported) if label is Label.FAIL else ()


def quotes(text: str) -> Iterator[str]:
    """The texts between quotation marks, each once; an ellipsis splits a quote in two."""
    parts = (
        part.strip(_EDGE)
        for match in _QUOTE.finditer(text)
        for part in _LEFT_OUT.split(next(filter(None, match.groups())))
    )
    return iter(dict.fromkeys(filter(None, parts)))


def quoted(text: str, language: Language) -> str:
    """A text in quotation marks that do not occur in it, if any do not."""
    marks = ("“”", "「」", '""') if language == "zh" else ('""', "“”", "「」")
    chosen = next((pair for pair in marks if not set(pair) & set(text)), marks[0])
    return f"{chosen[0]}{text}{chosen[-1]}"


def exact(quote: str, text: str) -> list[Span]:
    """All places of a quote as whole words, ignoring letter case and kinds of white space."""
    words = r"\s+".join(re.escape(word) for word in quote.split())
    before = _BEGINS if re.match(_LATIN, quote) else ""
    after = _ENDS if re.match(_LATIN, quote[-1:]) else ""
    return [Span(*match.span()) for match in re.finditer(before + words + after, text, re.IGNORECASE)]


def alike(quote: str, text: str) -> Span | None:
    """The span of a text that is most like a quote, if it is alike enough (:data:`ALIKE`)."""
    wanted = _words(quote)
    places = list(_WORD.finditer(text))
    if not FEWEST_WORDS <= len(wanted) <= len(places):
        return None
    words = _words(text)
    shared = _shared_words(wanted, words)
    most = max(shared)
    if most < ALIKE * len(wanted):
        return None
    starts = [start for start, count in enumerate(shared) if count == most][:_CANDIDATES]
    matchers = [
        SequenceMatcher(None, wanted, words[start : start + len(wanted)], autojunk=False) for start in starts
    ]
    start, best = max(zip(starts, matchers, strict=True), key=lambda pair: pair[1].ratio())
    if best.ratio() < ALIKE:
        return None
    blocks = [block for block in best.get_matching_blocks() if block.size]
    first, last = start + blocks[0].b, start + blocks[-1].b + blocks[-1].size - 1
    return Span(places[first].start(), places[last].end())


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _shared_words(wanted: Sequence[str], words: Sequence[str]) -> list[int]:
    """For each span of ``len(wanted)`` words, by its start: how many of the wanted words it holds."""
    missing = Counter(wanted)  # words the span lacks; negative if it has one too often
    held = 0
    counts = []
    for end, word in enumerate(words):
        held += missing[word] > 0
        missing[word] -= 1
        if end >= len(wanted):
            gone = words[end - len(wanted)]
            missing[gone] += 1
            held -= missing[gone] > 0
        if end >= len(wanted) - 1:
            counts.append(held)
    return counts


def _ordered(spans: set[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=lambda span: (span.start, span.end)))
