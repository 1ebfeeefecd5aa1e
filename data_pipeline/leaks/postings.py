"""An inverted index from shingles to the texts that hold them, and the text that shares most with another.

Every shingle is kept, so what two texts share is counted, not estimated. A shingle weighs ``log2(1 + texts /
texts that hold it)``: templates and boilerplate count for little.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from data_pipeline.leaks.shingles import Shingles


class Shared(NamedTuple):
    """An indexed ``text`` (its place, from 0), and what ``share`` (0 to 1) of the lesser text is in both."""

    text: int
    share: float


class Postings:
    """The index; 4 bytes for each text of a shingle, 20 for each distinct shingle.

    Args:
        shingles: all distinct shingles, sorted.
        counts: how many texts hold each.
        texts: the places of these texts, shingle by shingle.
        size: how many texts there are.
    """

    def __init__(self, shingles: Shingles, counts: NDArray[np.int32], texts: NDArray[np.int32], size: int):
        self.shingles, self.counts, self.texts, self.size = shingles, counts, texts, size
        self._starts = np.cumsum(counts, dtype=np.int64) - counts
        self._weights = np.log2(1 + size / counts).astype(np.float32)
        self._unseen = float(np.log2(1 + size))
        self._totals = np.bincount(texts, np.repeat(self._weights, counts), minlength=size)

    @classmethod
    def build(cls, texts: Sequence[Shingles]) -> "Postings":
        """Index texts by their shingles."""
        joined = np.concatenate([np.empty(0, np.uint32), *texts])
        places = np.repeat(np.arange(len(texts), dtype=np.int32), [len(text) for text in texts])
        order = np.argsort(joined, kind="stable")
        shingles, counts = np.unique(joined, return_counts=True)
        return cls(shingles, counts.astype(np.int32), places[order], len(texts))

    def most_shared(self, text: Shingles, least: int) -> Shared | None:
        """The indexed text with the greatest share, among those with ``least`` shingles or more in common."""
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
