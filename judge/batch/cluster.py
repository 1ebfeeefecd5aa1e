"""A Ray cluster, to judge files on more than one machine."""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

from judge.errors import InputError, JudgeError, brief

Item = TypeVar("Item")
Result = TypeVar("Result")

STARTS = 3
"""A worker is started at most this often; one that its work kills would otherwise restart for ever."""
AHEAD = 2
"""Items queued at a worker."""
KEPT = "the verdicts before are kept, continue with --resume"


class Cluster:
    """The Ray cluster that ``RAY_ADDRESS`` names, or one that is started on this machine.

    Raises:
        InputError: Ray is not installed, or no cluster answers.
    """

    def __init__(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        try:
            import ray
        except ImportError:
            raise InputError(
                "engine ray needs Ray; install it: pip install ray, or 'hallucination-judge[ray]'"
            ) from None
        self.ray: Any = ray
        if ray.is_initialized():
            return
        _knock(os.environ.get("RAY_ADDRESS", ""))
        try:
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(
                f"no Ray cluster could be joined ({brief(error, 200)}); see RAY_ADDRESS"
            ) from None

    def room(self, cpus: int, gpus: float) -> int:
        """How many workers fit on the cluster's current machines."""
        needs = [("CPU", float(cpus)), *([("GPU", gpus)] if gpus else [])]
        machines = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        return sum(min(int(has.get(name, 0) / need + 1e-9) for name, need in needs) for has in machines)

    def run(
        self,
        make: Callable[[], Callable[[Item], Result]],
        items: Iterable[Item],
        *,
        workers: int,
        cpus: int = 1,
        gpus: float = 0,
    ) -> Iterator[Result]:
        """The result of each item, in order; items are read as workers become free.

        Args:
            make: makes the function for the items, once in each worker; made of plain data and module-level
                functions, so that it can be sent there.
            items: anything that can be copied to another process.
            workers: maximum number of workers; those that do not fit wait until the cluster grows.
            cpus: CPU cores per worker.
            gpus: GPUs per worker; may be a fraction.

        Raises:
            JudgeError: if a worker raised an error or died too often, or the cluster failed.
        """
        ray, stream = self.ray, iter(items)
        first = list(islice(stream, workers))
        workers, stream = len(first), chain(first, stream)
        kind = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=STARTS - 1, max_task_retries=-1)(_Worker)
        actors = [kind.remote(make) for _ in range(workers)]
        busy = {actor.start.remote(): actor for actor in actors}
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
            for item in stream:
                while not free or len(waiting) >= 2 * AHEAD * workers:
                    if free:  # too many wait: the oldest has to be yielded first
                        yield ray.get(waiting.popleft())
                        continue
                    [done], _ = ray.wait(list(busy), num_returns=1)
                    free.append(busy.pop(done))
                actor = free.popleft()
                waiting.append(actor.work.remote(item))
                busy[waiting[-1]] = actor
                while waiting and waiting[0] not in busy:
                    yield ray.get(waiting.popleft())
            while waiting:
                yield ray.get(waiting.popleft())
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, JudgeError):
                raise error.cause from None
            reason = " ".join(f"{type(error.cause).__name__}: {error.cause}".split())
            raise JudgeError(f"a worker failed ({reason:.300}); {KEPT}") from None
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.RayActorError) and "creation task" not in str(error):
                raise JudgeError(
                    f"a worker died {STARTS} times, of too little memory most likely; take fewer workers, or "
                    f"more CPUs or GPUs for each; {KEPT}"
                ) from None
            reason = str(error).strip().rpartition("\n")[2]
            raise JudgeError(f"the cluster failed ({reason:.300}); {KEPT}") from None
        finally:
            for actor in actors:
                ray.kill(actor)


class _Worker:
    """One process of the cluster, with its own function, which is made again when it is restarted."""

    def __init__(self, make: Callable[[], Any]):
        self._make = make

    @cached_property
    def _function(self) -> Any:
        return self._make()

    def start(self) -> None:
        _ = self._function  # its errors are passed on, those of __init__ would not be

    def work(self, item: Any) -> Any:
        return self._function(item)


def _knock(address: str) -> None:
    """Check that something answers at ``[ray://]HOST:PORT``; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():  # none, or a word that Ray knows
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"no Ray cluster answers at {address} ({error}); see RAY_ADDRESS") from None
