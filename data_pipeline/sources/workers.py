"""Processes that share the work on a stream; the results and their order are the same as with one process.

Example: ``with Workers(4) as workers: list(workers.map(supported, golds))``.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import Self, TypeVar

from judge.errors import JudgeError
from judge.models import hardware

Item = TypeVar("Item")
Result = TypeVar("Result")

FEW = 256
"""Up to this many items are processed here, since a new process takes seconds to start."""
BATCH = 32
"""Items that a process takes at a time."""
AHEAD = 3
"""Batches per process that are held in memory, waiting to be processed or to be yielded in order."""


MOST = 8
"""Default limit on processes, since each keeps its own documents in memory."""


def cores() -> int:
    """The number of cores that this process may use, at most :data:`MOST`."""
    return min(hardware.cores(), MOST)


class Workers:
    """A pool of processes, started when first needed. A context manager.

    Args:
        count: number of processes; with 1 all work is done in this one. New processes import the main script
            again, so it must guard its entry (``if __name__ == "__main__"``).
        few: up to this many items are processed here.
    """

    def __init__(self, count: int = 1, few: int = FEW):
        self.count = count
        self.few = few
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        few: int | None = None,
        batch: int = BATCH,
    ) -> Iterator[Result]:
        """Yield the result for each item, in order.

        Args:
            function: a module-level function, or a partial of one, whose result depends on the item alone.
            items: items that can be pickled.
            few: up to this many items are processed here; :attr:`few` by default.
            batch: items that a process takes at a time.

        Raises:
            JudgeError: a process died, for instance because the system ran out of memory.
        """
        stream, few = iter(items), self.few if few is None else few
        first = list(islice(stream, few + 1)) if self.count > 1 else []
        stream = chain(first, stream)
        if len(first) <= few:
            yield from map(function, stream)
            return
        waiting: deque[Future[list[Result]]] = deque()
        try:
            while some := list(islice(stream, batch)):
                waiting.append(self._start().submit(_work, function, some))
                if len(waiting) >= AHEAD * self.count:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise JudgeError(
                f"one of {self.count} processes died, perhaps for lack of memory; ask for fewer (--workers 1)"
            ) from None

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Not fork: a forked process hangs if its parent has used OpenMP.
            context = multiprocessing.get_context("spawn")
            # Workers ignore interrupts: the parent handles them and ends its workers.
            ignore = (signal.SIGINT, signal.SIG_IGN)
            self._pool = ProcessPoolExecutor(self.count, context, signal.signal, ignore)
        return self._pool


def _work(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return list(map(function, items))
