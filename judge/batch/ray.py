"""Judges a file on a Ray cluster, with the same rows in the same order as on one machine.

This process reads the file chunk by chunk as workers become free. Each worker has its own judge, and their
rows come back in order. Chunks are the same as on one machine, so each verdict has the same neighbours.
"""

import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from judge.backends.vllm_engine import VLLMSettings
from judge.batch.cluster import Cluster
from judge.batch.file import Row, judge_rows, unlabelled
from judge.checker import Checker, in_chunks
from judge.columns import Columns
from judge.errors import InputError, JudgeError
from judge.load import load_judge
from judge.types import Sample


class RayEngine:
    """Judges on a Ray cluster (an :class:`~judge.batch.file.Engine`): ``RAY_ADDRESS``, or this machine.

    Args:
        load: makes the judge in each worker; plain data and module-level functions, to be sent there.
        chunk: samples judged together, see :attr:`judge.checker.Checker.chunk`.
        workers: at most this many; by default as many as fit on the cluster.
        cpus: CPU cores per worker.
        gpus: GPUs per worker; may be a fraction. By default 1 if the cluster has any.

    Raises:
        InputError: if Ray is not installed, no cluster answers, or no worker fits on it.
    """

    def __init__(
        self,
        load: Callable[[], Checker],
        chunk: int,
        *,
        workers: int | None = None,
        cpus: int = 1,
        gpus: float | None = None,
    ):
        self._cluster = Cluster()
        if gpus is None:
            gpus = float("GPU" in self._cluster.ray.cluster_resources())
        self._load, self._chunk, self._cpus, self._gpus = load, chunk, cpus, gpus
        self._workers = workers or self._cluster.room(cpus, gpus)
        if not self._workers:
            raise InputError(
                f"no machine of the cluster has {cpus} CPUs and {gpus:g} GPUs for a worker; ask for less, or "
                "say --set workers=N to wait until the cluster grows"
            )

    def judge(
        self, samples: Path, done: int, total: int, columns: Columns | None = None
    ) -> tuple[Row, Iterator[Row]]:
        """See :class:`judge.batch.file.Engine`."""
        start = done if done == total else done - done % self._chunk
        chunks = in_chunks(islice(unlabelled(samples, columns), start, None), self._chunk)
        results = self._cluster.run(
            partial(_judging, self._load),
            chain([next(chunks, [])], chunks),  # an empty chunk if nothing is left to judge
            workers=self._workers,
            cpus=self._cpus,
            gpus=self._gpus,
        )
        first = next(results)  # the judge is made on the workers, so its description comes with a result
        return first["judge"], _rows(chain([first], results), skip=done - start)


def _judging(load: Callable[[], Checker]) -> Callable[[list[Sample]], Row]:
    """What a worker does: the judge's description and the rows of the verdicts on a chunk."""
    judge = load()
    return lambda chunk: {"judge": judge.describe(), "rows": list(judge_rows(judge, chunk))}


def _rows(results: Iterator[Row], skip: int) -> Iterator[Row]:
    """The rows of the verdicts, without the first ``skip`` rows of the first chunk."""
    judge = None
    for result in results:
        judge = judge or result["judge"]
        if result["judge"] != judge:
            differing = sorted(key for key in judge if judge[key] != result["judge"].get(key))
            raise JudgeError(
                f"the workers' judges differ in {', '.join(differing)}; use machines of one kind, or set it "
                "(--set precision=FORMAT)"
            )
        yield from result["rows"][skip:]
        skip = 0


def load_on_worker(folder: Path, model: str, **settings: Any) -> Checker:
    """Make a judge on the GPUs that Ray assigned to this process.

    Args:
        folder: base of relative paths, on machines that have it.
        model: this and the settings as for :func:`judge.load.load_judge`. vLLM settings that are not given
            follow from the GPUs.
    """
    import ray

    if folder.is_dir():
        os.chdir(folder)
    if settings.get("backend") == "vllm":
        gpus = ray.get_runtime_context().get_assigned_resources().get("GPU", 0)
        settings["vllm"] = settings_on(gpus, settings.get("vllm"))
    return load_judge(model, **settings)


def settings_on(gpus: float, given: VLLMSettings | None = None) -> VLLMSettings:
    """vLLM settings for a worker's GPUs: split the model over several, or take a share of one.

    Settings that are ``given`` are kept.
    """
    chosen = given.model_dump(exclude_unset=True) if given else {}
    sharing = math.floor(1 / gpus) if 0 < gpus < 1 else 1
    return VLLMSettings(**{"tensor_parallel_size": max(1, int(gpus)), "sharing": sharing, **chosen})
