"""The gate between training data and benchmarks: what occurs in a benchmark is dropped, and listed.

Leakage is by document, so a whole group goes when one of its rows leaks. A group need not come in one piece;
therefore the samples are read twice: once to find the leaks, once to let the others through.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from data_pipeline.leaks.index import BenchmarkIndex, Leak
from data_pipeline.leaks.shingles import fingerprint
from judge.types import Sample

Read = Callable[[], Iterable[Sample]]
"""Starts reading the samples from the first; always the same ones."""


class Gate:
    """What was found in samples; memory grows with the leaks and not with the samples.

    Args:
        read: starts reading the samples; called once here, and once by each :meth:`kept`.
        index: the benchmarks.

    ``leaks`` maps each group with a leak to its first one. ``dropped`` lists the rows that :meth:`kept`, once
    it has been read to its end, left out, each with its group's leak.
    """

    def __init__(self, read: Read, index: BenchmarkIndex):
        self._read, self._index = read, index
        self.leaks: dict[str, Leak] = {}
        self.dropped: list[dict[str, Any]] = []
        for sample in read():
            group = group_of(sample)
            if group not in self.leaks and (leak := index.check(sample)) is not None:
                self.leaks[group] = leak

    def kept(self) -> Iterator[Sample]:
        """The samples of groups without a leak, in order."""
        self.dropped.clear()
        for sample in self._read():
            group = group_of(sample)
            leak = self.leaks.get(group)
            if leak is None:
                yield sample
            else:
                self.dropped.append(
                    {
                        "id": sample.id,
                        "group": group,
                        "benchmark": leak.benchmark,
                        "row": leak.id,
                        "kind": leak.kind,
                        "similarity": leak.similarity,
                    }
                )


def group_of(sample: Sample) -> str:
    """The sample's group; without one, its document stands for it."""
    return sample.group or f"document {fingerprint(sample.document_text):016x}"
