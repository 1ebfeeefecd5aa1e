"""Where gold answers are edited: in this process, or in batches on the workers of a Ray cluster.

What comes out does not depend on the engine.
"""

from collections.abc import Callable, Iterable, Iterator

from data_pipeline.edits import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.pairs import Perturb
from judge.batch.cluster import Cluster
from judge.types import Sample

Engine = Callable[[Callable[[], Perturb], Iterable[Sample]], Iterator[Edit | Rejected]]
"""Gives an edit of each gold answer, in order. It is given what makes the stage (plain data and functions of
modules, since it may travel to other processes) and the answers."""

BATCH = 128
"""Gold answers that a worker takes at a time."""


def local(make_stage: Callable[[], Perturb], golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
    """Everything in this process, one after the other."""
    return make_stage()(golds)


def make_engine(name: str) -> Engine:
    """The engine that a recipe names: ``local``, or ``ray``, the cluster of ``RAY_ADDRESS`` or one here."""
    if name != "ray":
        return local
    cluster = Cluster()

    def on_cluster(make_stage: Callable[[], Perturb], golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        return cluster.run(make_stage, golds, batch=BATCH, workers=max(1, cluster.room(1, 0)))

    return on_cluster
