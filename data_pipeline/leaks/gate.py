"""The gate between training data and benchmarks: what occurs in a benchmark is dropped, and listed.

A sample goes by itself, but twins, and the options of a question, go together (``meta["pair"]``). They need
not follow each other; therefore the samples are read twice: once to find the leaks, once to let the others
through.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from data_pipeline.leaks.index import Leak
from data_pipeline.sources.store import pair_of
from judge.types import Sample

Read = Callable[[], Iterable[Sample]]
"""Starts reading the samples from the first; always the same ones."""


class Gate:
    """What was found in samples; memory grows with the leaks and not with the samples.

    Args:
        read: starts reading the samples; called once here, and once by each :meth:`kept`.
        check: the leak of a sample, such as :meth:`~data_pipeline.leaks.index.BenchmarkIndex.check`.

    ``leaks`` maps each pair with a leak to its first one. ``dropped`` lists the rows that :meth:`kept`, once
    it has been read to its end, left out, each with its pair's leak.
    """

    def __init__(self, read: Read, check: Callable[[Sample], Leak | None]):
        self._read = read
        self.leaks: dict[str, Leak] = {}
        self.dropped: list[dict[str, Any]] = []
        for sample in read():
            pair = pair_of(sample)
            if pair not in self.leaks and (leak := check(sample)) is not None:
                self.leaks[pair] = leak

    def kept(self) -> Iterator[Sample]:
        """The samples of pairs without a leak, in order."""
        self.dropped.clear()
        for sample in self._read():
            leak = self.leaks.get(pair_of(sample))
            if leak is None:
                yield sample
            else:
                self.dropped.append(leak_row(sample, leak))


def leak_row(sample: Sample, leak: Leak) -> dict[str, Any]:
    """A row of ``leaks.jsonl``: the sample that was dropped, and what of which benchmark it repeats."""
    return {
        "id": sample.id,
        "source": sample.source,
        "group": sample.group,
        "benchmark": leak.benchmark,
        "row": leak.id,
        "kind": leak.kind,
        "similarity": leak.similarity,
    }
