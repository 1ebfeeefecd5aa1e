"""Where a document speaks of something: its sentences, ranked by shared words, and quotes from them.

A quote is a span of the document of at most :data:`MAX_QUOTE` characters, cut at words. White space in it is
single spaces; an ellipsis shows where a sentence goes on.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from data_pipeline.edits.edit import lowered, occurs
from data_pipeline.text.content import is_number, keys
from judge.prompting.sentences import sentence_spans
from judge.types import Span

MAX_QUOTE = 160
"""Characters; a reasoning is read by people and generated token by token."""
MOST_QUOTES = 3
"""Quotes for one claim."""
COVERED = 0.5
"""Share of a claim's content words that its quotes must hold."""
_GAIN = 0.25
"""Share of a claim's content words that one more quote must add, unless it adds a long number."""
_STEP = 3
"""Words from one span of a long sentence that can be quoted to the next."""
_TOPIC = 0.5
"""What a word of the question counts, over a word of the claim."""

_SHORTEST = 20
_ENDS = (".", "!", "?", "。", "！", "？")
_SHORTENED = re.compile(
    r"\b(?:[ap]\.m|U\.S|U\.K|D\.C|e\.g|i\.e|vs|approx|Jr|Sr|St|Mt|Ft|Col|Lt|Sgt|Sen|Rep|Gov)\.$"
)
_LETTER = r"[^\W_\u4e00-\u9fff]"
_WORD = re.compile(rf"[\u4e00-\u9fff]|{_LETTER}+(?:[.,:'’/-]{_LETTER}+)*|[^\w\s]|_+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a document, ready to be quoted, and the content words in it."""

    text: str
    keys: frozenset[str]


class Places:
    """A document cut into sentences that can be ranked and quoted from."""

    def __init__(self, document: str):
        self.document = document
        self.sentences = _sentences_and_rows(document)
        self._held = [keys(document[span.start : span.end]) for span in self.sentences]
        self._counts = Counter(key for held in self._held for key in held)
        self.keys = self._counts.keys()

    def quotes(
        self, wanted: frozenset[str], topic: frozenset[str] = frozenset(), musts: Sequence[str] = ()
    ) -> list[Quote]:
        """Quotes that hold most of the wanted words: one, and others that add enough.

        Args:
            wanted: content words of a claim.
            topic: content words of the question: they decide between places that say the same.
            musts: texts that are quoted first, as far as they stand in the document.
        """
        found: list[Quote] = []
        for must in filter(None, musts):
            if not any(occurs(must, quote.text) for quote in found):
                found += self._best(wanted, topic, list(places_of(must, self.document)))
        while len(found) < MOST_QUOTES:
            left = wanted.difference(*(quote.keys for quote in found))
            for quote in self._best(left, topic):
                new = quote.keys & left
                if not found or len(new) >= _GAIN * len(wanted) or any(map(is_number, new)):
                    found.append(quote)
                    break
            else:
                break
        return found

    def quote_in(self, number: int, share: float = 0.0) -> Quote:
        """A quote from the sentence of a number, this far in it if it is long."""
        spans = list(self._quotable(self.sentences[number]))
        return self._quote(spans[int(share * len(spans))], number)

    def _best(
        self, wanted: frozenset[str], topic: frozenset[str], musts: Sequence[Span] | None = None
    ) -> Iterator[Quote]:
        """The best quote, if there is any: one that holds one of the musts, or else some wanted word."""

        def score(held: Collection[str]) -> float:  # the fewer sentences hold a word, the more it tells
            weights = [1 / self._counts[key] for key in wanted if key in held]
            return math.fsum(weights + [_TOPIC / self._counts[key] for key in topic - wanted if key in held])

        def holds(span: Span) -> bool:
            return musts is None or any(span.start <= must.start and must.end <= span.end for must in musts)

        able = [
            number
            for number, span in enumerate(self.sentences)
            if holds(span) and (musts is not None or wanted & self._held[number])
        ]
        able.sort(key=lambda number: -score(self._held[number]))
        options = [
            (score(quote.keys), quote)
            for number in able[:3]
            for span in self._quotable(self.sentences[number])
            if holds(span) and (quote := self._quote(span, number))
        ]
        if options:
            yield max(options, key=lambda option: option[0])[1]

    def _quotable(self, sentence: Span) -> Iterator[Span]:
        """A sentence; of a long one the spans of it that can be quoted, which overlap."""
        if sentence.end - sentence.start <= MAX_QUOTE:
            yield sentence
            return
        words = [match.span() for match in _WORD.finditer(self.document, sentence.start, sentence.end)]
        ends = [end for _, end in words]
        for start, _ in [word for word in words if self.document[word[0]].isalnum()][::_STEP] or words[:1]:
            end = ends[bisect_right(ends, start + MAX_QUOTE) - 1]
            yield Span(start, end if end > start else start + MAX_QUOTE)
            if end == ends[-1]:
                return

    def _quote(self, span: Span, number: int) -> Quote:
        text, sentence = self.document[span.start : span.end], self.sentences[number]
        before, after = "…" * (span.start > sentence.start), "…" * (span.end < sentence.end)
        return Quote(before + " ".join(text.split()) + after, keys(text))


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


def _sentences_and_rows(document: str) -> list[Span]:
    """Sentences and lines; lines of a few characters, as of tables, are taken together."""
    found: list[Span] = []
    for span in whole_sentences(document):
        before = document[found[-1].start : found[-1].end] if found else ""
        if 0 < len(before) < _SHORTEST and "|" not in before and not before.endswith(_ENDS):
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found or [Span(0, len(document))]


def places_of(text: str, document: str) -> Iterator[Span]:
    """Where a text stands in a document as whole words, whatever the white space and the case."""
    words = text.split()
    if not words or lowered(words[0]) not in lowered(document):
        return
    before = rf"(?<!{_LETTER})(?<!\d[.,])" if re.match(_LETTER, text) else ""
    after = rf"(?!{_LETTER})(?![.,]\d)" if re.search(f"{_LETTER}$", text) else ""
    body = r"\s+".join(map(re.escape, words))
    for match in re.finditer(f"{before}(?i:{body}){after}", document):
        yield Span(*match.span())


@lru_cache(maxsize=8)
def places_in(document: str) -> Places:
    """The places of a document; kept, since the samples of a pair follow each other."""
    return Places(document)


def cover(wanted: frozenset[str], quotes: Sequence[Quote]) -> float:
    """Share of the wanted words that stand in the quotes; 1 where none is wanted."""
    held = {key for quote in quotes for key in quote.keys}
    return len(wanted & held) / len(wanted) if wanted else 1.0


def excerpt(sentence: str, about: str, must: str = "") -> str:
    """What of a sentence is quoted: all of it, or of a long one the span that speaks of ``about``."""
    if len(sentence) <= MAX_QUOTE:
        return sentence
    places = Places(sentence)
    return (places.quotes(keys(about), musts=[must]) or [places.quote_in(0)])[0].text
