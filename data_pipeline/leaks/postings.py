"""An inverted index from shingles to texts, which finds the text that shares most with a given one.

All shingles are kept, so the overlap of texts is counted, not estimated. A shingle has the weight ``log2(1 +
texts / texts that hold it)``, so templates and boilerplate count for little.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from data_pipeline.leaks.shingles import Shingles, distinct, shingles_of

AT_ONCE = 1000
"""Texts whose shingles are computed in one batch."""


class Shared(NamedTuple):
    """The index of a ``text`` (from 0), and the ``share`` (0 to 1) of the smaller text that is in both."""

    text: int
    share: float


class Postings:
    """The index; it takes 4 bytes for each text of a shingle, and 20 for each distinct shingle.

    Args:
        shingles: all distinct shingles, sorted.
        counts: the number of texts with each shingle.
        texts: the indices of these texts, shingle by shingle.
        size: the number of texts.
    """

    def __init__(self, shingles: Shingles, counts: NDArray[np.int32], texts: NDArray[np.int32], size: int):
        self.shingles, self.counts, self.texts, self.size = shingles, counts, texts, size
        self._starts = np.cumsum(counts, dtype=np.int64) - counts
        self._weights = np.log2(1 + size / counts).astype(np.float32)
        self._unseen = float(np.log2(1 + size))
        self._totals = np.bincount(texts, np.repeat(self._weights, counts), minlength=size)

    @classmethod
    def build(cls, shingles: Shingles, counts: NDArray[np.int64]) -> "Postings":
        """Index texts, given the shingles of one text after the other and the count for each."""
        places = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)
        both = shingles.astype(np.uint64) << np.uint64(32) | places
        both.sort()
        known, holders = distinct((both >> np.uint64(32)).astype(np.uint32))
        return cls(known, holders.astype(np.int32), both.astype(np.uint32).astype(np.int32), len(counts))

    def most_shared(self, text: Shingles, least: int) -> Shared | None:
        """The indexed text with the greatest share, among those with at least ``least`` shared shingles."""
        if len(text) < least or len(self.shingles) < least:
            return None
        found = np.searchsorted(self.shingles, text)
        found[found == len(self.shingles)] = 0
        known = found[self.shingles[found] == text]
        if len(known) < least:
            return None
        counts, weights = self.counts[known], self._weights[known]
        ends = np.cumsum(counts)
        holders = self.texts[np.arange(ends[-1]) + np.repeat(self._starts[known] - ends + counts, counts)]
        places, inverse, common = np.unique(holders, return_inverse=True, return_counts=True)
        both = np.bincount(inverse, np.repeat(weights, counts))
        own = float(weights.sum()) + self._unseen * (len(text) - len(known))
        shares = np.where(common < least, 0, both / np.minimum(own, self._totals[places]))
        best = int(shares.argmax())
        return Shared(int(places[best]), min(float(shares[best]), 1.0)) if shares[best] > 0 else None


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

    def arrays(self, name: str) -> dict[str, Any]:
        """The collected texts as NumPy arrays, with names that begin with ``name``."""
        self._take_in()
        postings = Postings.build(np.concatenate(self._shingles), np.concatenate(self._counts))
        return {
            f"{name}_keys": np.array(list(self.keys), np.uint64),
            f"{name}_key_rows": np.array(list(self.keys.values()), np.int32),
            f"{name}_rows": np.array(self._rows, np.int32),
            f"{name}_shingles": postings.shingles,
            f"{name}_counts": postings.counts,
            f"{name}_texts": postings.texts,
        }
