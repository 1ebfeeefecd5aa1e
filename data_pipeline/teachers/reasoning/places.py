"""Where a document speaks of something: its parts, ranked by shared words, and quotes around those words.

A quote is a span of the document of at most :data:`MAX_QUOTE` characters, cut at words and centred on what
it is quoted for. White space in it is single spaces; an ellipsis shows where a part goes on.
"""

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from data_pipeline.teachers.reasoning.parts import parts_of, places_of
from data_pipeline.text.content import CJK, Token, content, is_number, keys
from judge.types import Span

MAX_QUOTE = 160
"""Characters; a reasoning is read by people and generated token by token."""
MOST_QUOTES = 3
"""Quotes for one claim."""
COVERED = 0.5
"""Share of a claim's content words that its quotes must hold."""
_GAIN = 0.15
"""Share of a claim's content words that one more quote must add."""
_CANDIDATES = 5
"""Parts that are looked at closely for one quote."""
_TOPIC = 0.5
"""What a word of the question counts, over a word of the claim."""

_NO_START = " ,.;:!?)，。；：、！？）”"
_UNIT = re.compile(
    r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+(?:[.,:'’/-][^\W\u4e00-\u9fff]+)*|[^\w\s\u4e00-\u9fff]"
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a document, ready to be quoted, and the content words in it."""

    text: str
    keys: frozenset[str]
    place: Span

    def of(self, part: Span) -> bool:
        """Does it lie in a part of the document?"""
        return part.start <= self.place.start and self.place.end <= part.end


class Places:
    """A document cut into parts (sentences and lines) that can be ranked and quoted from."""

    def __init__(self, document: str):
        self.document = document
        self.parts = parts_of(document)
        self._ends = [part.end for part in self.parts]
        self._tokens = [list(content(document[part.start : part.end], part.start)) for part in self.parts]
        self._holding: dict[str, list[int]] = defaultdict(list)
        for number, tokens in enumerate(self._tokens):
            for key in dict.fromkeys(token.key for token in tokens):
                self._holding[key].append(number)

    @property
    def keys(self) -> Set[str]:
        """All content words."""
        return self._holding.keys()

    def weight(self, key: str) -> float:
        """How much a word tells: the fewer parts hold it, the more; a number twice. 0 where none does."""
        held = len(self._holding.get(key, ()))
        return (1 + is_number(key)) * math.log(1 + len(self.parts) / held) if held else 0.0

    def quotes(
        self, wanted: frozenset[str], topic: frozenset[str] = frozenset(), musts: Sequence[str] = ()
    ) -> list[Quote]:
        """Quotes that together hold most of the wanted words, the one that holds most first.

        Args:
            wanted: content words of a claim.
            topic: content words of the question: they decide between places that say the same.
            musts: texts; the first quote holds the first one of them that stands in the document.
        """
        found: list[Quote] = []
        left = wanted
        while len(found) < MOST_QUOTES:
            options = self._options(left, topic, () if found else musts)
            best = max(options, key=lambda option: option[0], default=None)
            if best is None:
                break
            new = best[1].keys & left
            if found and len(new) < max(1, _GAIN * len(wanted)) and not any(map(is_number, new)):
                break
            found.append(best[1])
            left -= best[1].keys
            if not left:
                break
        return found

    def quote_of(self, span: Span) -> Quote:
        """A quote around a span of the document."""
        return self._best_window(span, {}, hold=True)[1]

    def _options(
        self, left: frozenset[str], topic: frozenset[str], musts: Sequence[str]
    ) -> list[tuple[float, Quote]]:
        weights = {key: _TOPIC * self.weight(key) for key in sorted(topic)}
        weights |= {key: self.weight(key) for key in sorted(left)}
        ranked = self._ranked(weights)
        for must in musts:
            if spans := list(places_of(must, self.document)):
                spans.sort(key=lambda span: -ranked.get(self._part_at(span.start), 0.0))
                return [self._best_window(span, weights, hold=True) for span in spans[:_CANDIDATES]]
        able = {number for key in left for number in self._holding.get(key, ())}
        best = sorted(able, key=lambda number: (-ranked[number], number))[:_CANDIDATES]
        return [self._best_window(self.parts[number], weights) for number in best]

    def _ranked(self, weights: Mapping[str, float]) -> dict[int, float]:
        ranked: dict[int, float] = defaultdict(float)
        for key, weight in weights.items():
            for number in self._holding.get(key, ()):
                ranked[number] += weight
        return ranked

    def _part_at(self, place: int) -> int:
        """The part that a place lies in, or the first one behind it."""
        return min(bisect_right(self._ends, place), len(self.parts) - 1)

    def _best_window(
        self, span: Span, weights: Mapping[str, float], *, hold: bool = False
    ) -> tuple[float, Quote]:
        """The quote with the weightiest words of the parts that a span lies in, and their weight.

        It lies around the span where this is to be held.
        """
        first, last = self._part_at(span.start), self._part_at(span.end - 1)
        start, end = min(self.parts[first].start, span.start), max(self.parts[last].end, span.end)
        tokens = [token for number in range(first, last + 1) for token in self._tokens[number]]
        low, high = start, end
        if end - start > MAX_QUOTE:
            known = [token for token in tokens if token.key in weights]
            low, high = _window(start, end, span if hold else None, known, weights)
            low, high = _at_words(self.document, start, end, low, high)
        text = " ".join(self.document[low:high].split())
        inside = frozenset(token.key for token in tokens if low <= token.start and token.end <= high)
        gap = "" if CJK.search(text) else " "
        text = ("…" + gap if low > start else "") + text + (gap + "…" if high < end else "")
        return math.fsum(weights[key] for key in inside if key in weights), Quote(
            text, inside, Span(low, high)
        )


def _window(
    start: int, end: int, held: Span | None, known: Sequence[Token], weights: Mapping[str, float]
) -> tuple[int, int]:
    """The span of ``MAX_QUOTE`` characters with the weightiest words, centred on them."""
    firsts = [token.start for token in known if held is None or token.start < held.start]
    firsts = [first for first in firsts if held is None or held.end - first <= MAX_QUOTE]
    best, low, high = -1.0, start, min(end, start + MAX_QUOTE)
    for first in [*firsts, *([held.start] if held else [])]:
        inside = [token for token in known if token.start >= first and token.end <= first + MAX_QUOTE]
        weight = math.fsum(weights[key] for key in {token.key for token in inside})
        if weight > best:
            ends = [token.end for token in inside] + ([min(held.end, first + MAX_QUOTE)] if held else [])
            best, low, high = weight, first, max(ends)
    slack = MAX_QUOTE - (high - low)
    low = max(start, low - slack // 2)
    high = min(end, low + MAX_QUOTE)
    return max(start, high - MAX_QUOTE), high


def _at_words(document: str, start: int, end: int, low: int, high: int) -> tuple[int, int]:
    """A span made smaller until no word is cut."""
    units = [match.span() for match in _UNIT.finditer(document, start, end)]
    whole = [unit for unit in units if low <= unit[0] and unit[1] <= high]
    if not whole:
        return low, high
    low, high = whole[0][0], whole[-1][1]
    while low < high - 1 and document[low] in _NO_START:
        low += 1
    return low, high


@lru_cache(maxsize=8)
def places_in(document: str) -> Places:
    """The places of a document; kept, since the samples of a pair follow each other."""
    return Places(document)


def cover(wanted: frozenset[str], quotes: Sequence[Quote]) -> float:
    """Share of the wanted words that stand in the quotes; 1 where none is wanted."""
    held = {key for quote in quotes for key in quote.keys}
    return sum(key in held for key in wanted) / len(wanted) if wanted else 1.0


def decide(wanted: frozenset[str], quotes: Sequence[Quote]) -> bool:
    """Do quotes hold enough of a claim to decide about it: half of its words, and all its longer numbers?"""
    numbers = frozenset(key for key in wanted if is_number(key))
    return cover(wanted, quotes) >= COVERED and cover(numbers, quotes) == 1


def excerpt(sentence: str, about: str, must: str = "") -> str:
    """What of a sentence is quoted: all of it, or of a long one the span that speaks of ``about``."""
    if len(sentence) <= MAX_QUOTE:
        return sentence
    places = Places(sentence)
    found = places.quotes(keys(about), musts=[must])
    return found[0].text if found else places.quote_of(Span(0, 1)).text
