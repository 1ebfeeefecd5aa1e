"""Where a document speaks of something: its sentences, ranked by shared words, and quotes from them.

A quote is a span of the document of at most :data:`MAX_QUOTE` characters, cut at words. White space becomes
single spaces; an ellipsis marks a cut sentence.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from data_pipeline.edits.edit import occurs
from data_pipeline.text.content import is_number, keys
from data_pipeline.text.sentences import LETTER, places_of, whole_sentences
from judge.types import Span

MAX_QUOTE = 160
"""Characters. Short, since a reasoning is read by people and generated token by token."""
MOST_QUOTES = 3
"""At most this many quotes for one claim."""
ENOUGH = 0.65
"""Once the quotes hold this share of a claim's content words, no more are looked for."""
_STEP = 3
"""Words from one quotable span of a long sentence to the next."""
_WORD = re.compile(rf"[\u4e00-\u9fff]|{LETTER}+(?:[.,:'’/-]{LETTER}+)*|[^\w\s]|_+")


class Places:
    """A document cut into sentences that can be ranked and quoted from."""

    def __init__(self, document: str):
        self.document = document
        self.sentences = whole_sentences(document, rows=True) or [Span(0, len(document))]
        self._held = [keys(document[span.start : span.end]) for span in self.sentences]
        self._counts = Counter(key for held in self._held for key in held)
        self.keys = self._counts.keys()

    def quotes(
        self,
        wanted: frozenset[str],
        topic: frozenset[str] = frozenset(),
        musts: Sequence[str] = (),
        enough: float = ENOUGH,
    ) -> list[str]:
        """Best quotes first, until they hold enough of the wanted words and all long numbers among them.

        Topic words count half as much. Texts that must be quoted (``musts``) come first.
        """
        found: list[str] = []
        for must in musts:
            if not any(occurs(must, quote) for quote in found):
                found += self._best(wanted, topic, list(places_of(must, self.document)))
        while len(found) < MOST_QUOTES and not (found and covers(wanted, found, enough)):
            more = self._best(wanted - keys("\n".join(found)), topic)
            if not more:
                break
            found += more
        return found

    def quote_in(self, number: int, share: float = 0.0) -> str:
        """A quote from sentence ``number``, taken at ``share`` of its length if it is long."""
        quotes = [quote for _, quote in self._quotable(number)]
        return quotes[int(share * len(quotes))]

    def _best(
        self, wanted: frozenset[str], topic: frozenset[str], musts: Sequence[Span] | None = None
    ) -> list[str]:
        """The best quote that holds one of the musts (without musts: from a sentence with a wanted word)."""

        def score(held: Collection[str]) -> float:  # words in fewer sentences weigh more
            shared = [key for key in wanted | topic if key in held]
            return math.fsum((1 + (key in wanted)) * math.log(1 + size / self._counts[key]) for key in shared)

        def holds(span: Span) -> bool:
            return musts is None or any(span.start <= must.start and must.end <= span.end for must in musts)

        size = len(self.sentences)
        able = [number for number in range(size) if holds(self.sentences[number])]
        if musts is None:
            able = [number for number in able if wanted & self._held[number]]
        able.sort(key=lambda number: -score(self._held[number]))
        spans = [found for number in able[:3] for found in self._quotable(number) if holds(found[0])]
        return [max(spans, key=lambda found: score(keys(found[1])))[1]] if spans else []

    def _quotable(self, number: int) -> Iterator[tuple[Span, str]]:
        """The quotable spans of a sentence: all of it, or overlapping spans of whole words of a long one."""
        first, last = self.sentences[number].start, self.sentences[number].end
        words = [match.span() for match in _WORD.finditer(self.document, first, last)]
        ends = [end for _, end in words]
        starts = [start for start, _ in words if self.document[start].isalnum()]
        for start in [first, *starts[_STEP::_STEP]]:
            end = last if last - start <= MAX_QUOTE else ends[bisect_right(ends, start + MAX_QUOTE) - 1]
            end = end if end > start else start + MAX_QUOTE  # one word longer than a quote
            text = " ".join(self.document[start:end].split())
            yield Span(start, end), "…" * (start > first) + text + "…" * (end < last)
            if end == last:
                return


@lru_cache(maxsize=8)
def places_in(document: str) -> Places:
    """The places of a document. Cached, since the samples of a pair follow each other."""
    return Places(document)


def covers(wanted: frozenset[str], quotes: Sequence[str], share: float) -> bool:
    """Do quotes hold this share of the wanted words, and all longer numbers among them?"""
    missing = wanted - keys("\n".join(quotes))
    return len(missing) <= (1 - share) * len(wanted) and not any(map(is_number, missing))
