"""An inverted index from shingles to texts, which finds the text that shares most with a given one.

All shingles are kept, so the overlap of texts is counted, not estimated. A shingle has the weight ``log2(1 +
texts / texts that hold it)``, so templates and boilerplate count for little.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from data_pipeline.leaks.shingles import Shingles, shingles_of

AT_ONCE = 1000
"""Texts whose shingles are computed in one batch."""


class Shared(NamedTuple):
    """The ``row`` of a text, and the ``share`` (0 to 1) of the smaller text that is in both."""

    row: int
    share: float


class Postings:
    """The index; it takes 4 bytes for each text of a shingle, and 20 for each distinct shingle.

    Args:
        shingles: the shingles of one text after the other.
        sizes: how many of them each text has.
        rows: the row of each text.
    """

    def __init__(self, shingles: Shingles, sizes: NDArray[np.int64], rows: Sequence[int]):
        places = np.repeat(np.arange(len(rows), dtype=np.uint64), sizes)
        both = shingles.astype(np.uint64) << np.uint64(32) | places
        both.sort()
        held = (both >> np.uint64(32)).astype(np.uint32)
        self._shingles, holders = np.unique(held, return_counts=True)
        self._counts, self._texts = holders.astype(np.int32), both.astype(np.uint32).astype(np.int32)
        self._rows = rows
        self._starts = np.cumsum(self._counts, dtype=np.int64) - self._counts
        self._weights = np.log2(1 + len(rows) / self._counts).astype(np.float32)
        self._unseen = float(np.log2(1 + len(rows)))
        weights = np.repeat(self._weights, self._counts)
        self._totals = np.bincount(self._texts, weights, minlength=len(rows))

    def most_shared(self, text: Shingles, least: int) -> Shared | None:
        """The indexed text with the greatest share, among those with at least ``least`` shared shingles."""
        if len(text) < least or len(self._shingles) < least:
            return None
        found = np.searchsorted(self._shingles, text)
        found[found == len(self._shingles)] = 0
        known = found[self._shingles[found] == text]
        if len(known) < least:
            return None
        counts, weights = self._counts[known], self._weights[known]
        ends = np.cumsum(counts)
        holders = self._texts[np.arange(ends[-1]) + np.repeat(self._starts[known] - ends + counts, counts)]
        places, inverse, common = np.unique(holders, return_inverse=True, return_counts=True)
        both = np.bincount(inverse, np.repeat(weights, counts))
        own = float(weights.sum()) + self._unseen * (len(text) - len(known))
        shares = np.where(common < least, 0, both / np.minimum(own, self._totals[places]))
        best = int(shares.argmax())
        if shares[best] <= 0:
            return None
        return Shared(self._rows[places[best]], min(float(shares[best]), 1.0))


class Texts:
    """Collects texts for an index: the row of each distinct key, and the shingles of rows."""

    def __init__(self) -> None:
        self.keys: dict[int, int] = {}
        self._rows: list[int] = []
        self._shingles: list[Shingles] = []
        self._counts: list[NDArray[np.int64]] = []
        self._waiting: list[list[bytes]] = []

    def add(self, text: list[bytes], row: int) -> None:
        """Add a text by its words."""
        self._rows.append(row)
        self._waiting.append(text)
        if len(self._waiting) == AT_ONCE:
            self._take_in()

    def _take_in(self) -> None:
        found, counts = shingles_of(self._waiting)
        self._shingles.append(found)
        self._counts.append(counts)
        self._waiting.clear()

    @cached_property
    def postings(self) -> Postings:
        """The index of the collected texts, made once all are added."""
        self._take_in()
        found = Postings(np.concatenate(self._shingles), np.concatenate(self._counts), self._rows)
        self._shingles.clear()
        self._counts.clear()
        return found
