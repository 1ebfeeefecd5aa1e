"""Where a stage runs: in this process, or in batches on the workers of a Ray cluster.

A stage takes a stream of items and gives a stream of results, one an item, in order. What comes out of it
does not depend on the engine.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from judge.batch.cluster import Cluster

Item = TypeVar("Item")
Result = TypeVar("Result")
Stage = Callable[[Iterable[Item]], Iterator[Result]]

BATCH = 128
"""Items that a worker takes at a time."""


class Engine(Protocol):
    """Runs stages."""

    def run(self, make_stage: Callable[[], Stage[Item, Result]], items: Iterable[Item]) -> Iterator[Result]:
        """The results of a stage, one an item, in order.

        Args:
            make_stage: makes the stage, once in each process that runs it; plain data and functions of
                modules alone, since it may travel.
            items: anything that can be copied to another process.
        """
        ...


class LocalEngine:
    """Everything in this process, item after item."""

    def run(self, make_stage: Callable[[], Stage[Item, Result]], items: Iterable[Item]) -> Iterator[Result]:
        """See :class:`Engine`."""
        return make_stage()(items)


class RayEngine:
    """Batches on a Ray cluster; the one that ``RAY_ADDRESS`` names, or one on this machine."""

    def __init__(self) -> None:
        self._cluster = Cluster()

    def run(self, make_stage: Callable[[], Stage[Item, Result]], items: Iterable[Item]) -> Iterator[Result]:
        """See :class:`Engine`."""
        return self._cluster.run(make_stage, items, batch=BATCH, workers=max(1, self._cluster.room(1, 0)))


def make_engine(name: str) -> Engine:
    """The engine that a recipe names."""
    return RayEngine() if name == "ray" else LocalEngine()
