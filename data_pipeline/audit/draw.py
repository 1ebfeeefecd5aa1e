"""A seeded choice of whole documents from a stream, of bounded size."""

import heapq
from collections.abc import Iterator
from hashlib import blake2b

from judge.types import Sample


class Draw:
    """Keeps the samples of the documents that rank first, as many as fit.

    A document's rank depends on the seed and its name alone: the choice is the same in whatever order the
    samples come, and every sample of a chosen document is in it.

    Args:
        limit: samples to keep at most; a single document may have more.
        seed: decides which documents.
    """

    def __init__(self, limit: int, seed: int):
        self.seen = 0
        self._limit, self._seed = limit, seed
        self._kept: dict[str, list[tuple[int, Sample]]] = {}
        self._heap: list[tuple[int, str]] = []  # the highest rank first
        self._count = 0
        self._below = 1 << 64

    def add(self, sample: Sample) -> None:
        """Offer one sample."""
        self.seen += 1
        group = sample.group or sample.document_text
        rank = int.from_bytes(blake2b(f"{self._seed}\0{group}".encode(), digest_size=8).digest())
        if rank >= self._below:
            return
        if group not in self._kept:
            self._kept[group] = []
            heapq.heappush(self._heap, (-rank, group))
        self._kept[group].append((self.seen, sample))
        self._count += 1
        while self._count > self._limit and len(self._heap) > 1:
            highest, name = heapq.heappop(self._heap)
            self._below = -highest
            self._count -= len(self._kept.pop(name))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Sample]:
        """The chosen samples, in the order in which they came."""
        kept = sorted((item for items in self._kept.values() for item in items), key=lambda item: item[0])
        return (sample for _, sample in kept)
