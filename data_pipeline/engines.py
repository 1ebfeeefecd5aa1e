"""Where a stage runs: in this process, or in batches on the workers of a Ray cluster.

A stage takes a stream of items and gives a stream of results, one an item, in order. What comes out of it
does not depend on the engine.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol, TypeVar

from judge.batch.cluster import join_cluster

Item = TypeVar("Item")
Result = TypeVar("Result")
Stage = Callable[[Iterable[Item]], Iterator[Result]]

CHUNK = 16_384
"""Items that are on the cluster at once."""

BATCH = 128
"""Items that a worker takes at a time."""


class Engine(Protocol):
    """Runs stages."""

    def run(self, make_stage: Callable[[], Stage[Item, Result]], items: Iterable[Item]) -> Iterator[Result]:
        """The results of a stage, one an item, in order.

        Args:
            make_stage: makes the stage, once in each process that runs it; plain data and functions of
            modules
                alone, since it may travel.
            items: anything that can be copied to another process.
        """
        ...


class LocalEngine:
    """Everything in this process, item after item."""

    def run(self, make_stage: Callable[[], Stage[Item, Result]], items: Iterable[Item]) -> Iterator[Result]:
        """See :class:`Engine`."""
        return make_stage()(items)


class RayEngine:
    """Batches on a Ray cluster (Ray Data); the one that ``RAY_ADDRESS`` names, or one on this machine."""

    def __init__(self) -> None:
        self._ray = join_cluster()

    def run(self, make_stage: Callable[[], Stage[Item, Result]], items: Iterable[Item]) -> Iterator[Result]:
        """See :class:`Engine`."""
        ray = self._ray
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        stream = iter(items)
        while chunk := list(islice(stream, CHUNK)):
            blocks = max(1, min(4 * workers, len(chunk) // BATCH))
            results = ray.data.from_items(
                [{"item": item} for item in chunk], override_num_blocks=blocks
            ).map_batches(
                _Worker,
                fn_constructor_args=(make_stage,),
                batch_size=BATCH,
                compute=ray.data.ActorPoolStrategy(size=min(workers, blocks)),
            )
            for row in results.iter_rows():
                yield row["result"]


class _Worker:
    """One process of the cluster with a stage of its own."""

    def __init__(self, make_stage: Callable[[], Stage[Any, Any]]):
        self._stage = make_stage()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        return {"result": list(self._stage(list(batch["item"])))}


def make_engine(name: str) -> Engine:
    """The engine that a recipe names."""
    return RayEngine() if name == "ray" else LocalEngine()
