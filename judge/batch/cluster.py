"""A Ray cluster: where files are judged past one machine."""

import logging
import math
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

from judge.errors import InputError, JudgeError

Item = TypeVar("Item")
Result = TypeVar("Result")

STARTS = 3
"""So often a worker is started at most: one that dies of its work would be started for ever."""
AHEAD = 2
"""Batches that a worker has in hand."""


class WorkerError(JudgeError):
    """A worker failed, or the cluster did; what it gave before stands."""


class Cluster:
    """The cluster that ``RAY_ADDRESS`` names, or one on this machine.

    Raises:
        InputError: Ray is not installed, or no cluster answers.
    """

    def __init__(self) -> None:
        self.ray = join_cluster()

    def room(self, cpus: int, gpus: float) -> int:
        """How many workers the machines that the cluster has now can hold."""
        needs = [("CPU", float(cpus)), *([("GPU", gpus)] if gpus else [])]
        machines = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        return sum(min(int(has.get(name, 0) / need + 1e-9) for name, need in needs) for has in machines)

    def run(
        self,
        make_stage: Callable[[], Callable[[Iterable[Item]], Iterator[Result]]],
        items: Iterable[Item],
        *,
        batch: int,
        workers: int,
        cpus: int = 1,
        gpus: float = 0,
    ) -> Iterator[Result]:
        """The results of a stage, in order; items are taken as workers get free.

        Args:
            make_stage: makes the stage, once in each worker; plain data and functions of modules, since it
                travels.
            items: anything that can be copied to another process.
            batch: items that a worker takes at a time.
            workers: how many there are at most; those that the cluster has no room for wait until it grows.
            cpus: CPU cores of a worker.
            gpus: GPUs of a worker, which may be a part of one.

        Raises:
            WorkerError: a worker died for the last time, or raised what is no :class:`JudgeError`.
            JudgeError: what a worker raised.
        """
        ray, stream = self.ray, iter(items)
        first = list(islice(stream, batch * workers))
        if not first:
            return
        workers, stream = min(workers, math.ceil(len(first) / batch)), chain(first, stream)
        kind = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=STARTS - 1, max_task_retries=-1)(_Worker)
        actors = [kind.remote(make_stage) for _ in range(workers)]
        busy = {actor.work.remote([]): actor for actor in actors}  # which makes the stage
        now = max(1, min(workers, self.room(cpus, gpus)))
        free: deque[Any] = deque()
        waiting: deque[Any] = deque()
        try:
            started, _ = ray.wait(list(busy), num_returns=now)
            ray.get(started)
            for _ in range(AHEAD):
                free.extend(busy[one] for one in started)
            for one in started:
                del busy[one]
            while some := list(islice(stream, batch)):
                while not free or len(waiting) >= 2 * AHEAD * workers:
                    if free:  # all that is known is the oldest that has to come first
                        yield from ray.get(waiting.popleft())
                        continue
                    [done], _ = ray.wait(list(busy), num_returns=1)
                    free.append(busy.pop(done))
                actor = free.popleft()
                waiting.append(actor.work.remote(some))
                busy[waiting[-1]] = actor
                while waiting and waiting[0] not in busy:
                    yield from ray.get(waiting.popleft())
            while waiting:
                yield from ray.get(waiting.popleft())
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, JudgeError):
                raise error.cause from None
            reason = " ".join(f"{type(error.cause).__name__}: {error.cause}".split())
            raise WorkerError(f"a worker failed ({reason:.300})") from error
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.RayActorError) and "creation task" not in str(error):
                raise WorkerError(
                    f"a worker died {STARTS} times, of too little memory most likely; take fewer workers, or "
                    "more CPUs or GPUs for each"
                ) from None
            reason = str(error).strip().rpartition("\n")[2]
            raise WorkerError(f"the cluster failed ({reason:.300})") from error
        finally:
            for actor in actors:
                ray.kill(actor)


class _Worker:
    """One process of the cluster with a stage of its own."""

    def __init__(self, make_stage: Callable[[], Any]):
        self._make_stage = make_stage

    @cached_property
    def _stage(self) -> Any:
        return self._make_stage()

    def work(self, items: Sequence[Any]) -> list[Any]:
        stage = self._stage
        return list(stage(items)) if items else []


def join_cluster() -> Any:
    """Join the Ray cluster that ``RAY_ADDRESS`` names, or start one on this machine.

    Returns:
        The module ``ray``, so that nobody uses it without a cluster.

    Raises:
        InputError: Ray is not installed, or no cluster answers.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
    except ImportError:
        raise InputError(
            "engine ray needs Ray; install it: pip install ray, or 'hallucination-judge[ray]'"
        ) from None
    if not ray.is_initialized():
        _knock(os.environ.get("RAY_ADDRESS", ""))
        try:
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"no Ray cluster could be joined ({reason:.200}); see RAY_ADDRESS") from None
    return ray


def _knock(address: str) -> None:
    """Does anything answer at an address ``[ray://]HOST:PORT``? Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():  # none, or a word that Ray knows
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"no Ray cluster answers at {address} ({error}); see RAY_ADDRESS") from None
