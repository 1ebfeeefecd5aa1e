"""What a judge's reasoning quotes, found again: in the document (evidence) or the answer (unsupported).

Judges are not asked for places; a reasoning that says what is right or wrong quotes it. A quote is looked for
word for word first, in the document and then in the answer, for a small model's quotes of the answer resemble
the document; only what stands in neither is looked for with words left out or changed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from judge.types import Label, Span

ALIKE = 0.7
"""Share of words in common and in order (difflib's ratio) from which a span counts as what was quoted."""
FEWEST_WORDS = 4
"""A shorter quote is only looked for word for word: too much resembles it."""
_CANDIDATES = 20
"""Of the spans that share most words with a quote, this many are compared in order."""

_LATIN = r"[^\W\u3400-\u9fff]"  # of a word with edges; Chinese characters have none
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
        ``evidence``: where the document says what is quoted, at the first place of each. ``unsupported``:
        where the answer says what is quoted and the document does not, at all places; of a ``FAIL`` alone.
        Both in order, none twice.
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
    """What stands between quotation marks, each once; what an ellipsis parts are two quotes."""
    parts = (
        part.strip(_EDGE)
        for match in _QUOTE.finditer(text)
        for part in _LEFT_OUT.split(next(filter(None, match.groups())))
    )
    return iter(dict.fromkeys(filter(None, parts)))


def exact(quote: str, text: str) -> list[Span]:
    """All places of a quote as whole words; letter case and the kind of white space do not matter."""
    words = r"\s+".join(re.escape(word) for word in quote.split())
    before = rf"(?<!{_LATIN})" if re.match(_LATIN, quote) else ""
    after = rf"(?!{_LATIN})" if re.match(_LATIN, quote[-1:]) else ""
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
    """How many of the wanted words each span of as many words holds, by where it starts."""
    missing = Counter(wanted)  # what the span lacks; below 0 is what it has too often
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
