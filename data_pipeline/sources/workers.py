"""Several processes that work through a stream; what comes out is the same as from one, and in its order.

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
"""Up to this many items are worked through in this process: a new one takes seconds to start."""
BATCH = 32
"""Items that a process takes at a time."""
AHEAD = 3
"""Batches for each process that wait for it, or for those before them; so much memory is held."""


MOST = 8
"""Processes, unless more are asked for: each holds documents of its own."""


def cores() -> int:
    """The cores that this process may run on, or :data:`MOST`."""
    return min(hardware.cores(), MOST)


class Workers:
    """Processes, started when they are first needed. A context manager.

    Args:
        count: number of processes; with 1 everything is done in this one. They import again what they need,
            so a script that asks for several must guard its entry (``if __name__ == "__main__"``).
        few: up to this many items are worked through in this process.
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
        """The results for items, one each, in order, as a stream.

        Args:
            function: a function of a module, or a partial of one, whose result depends on the item alone.
            items: anything that can be copied to another process.
            few: up to this many are worked through here, instead of :attr:`few`.
            batch: items that a process takes at a time.

        Raises:
            JudgeError: a process died, as one does that the system stops for want of memory.
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
            # Not forked: a fork of a process that has used OpenMP hangs.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.count, context, initializer=_leave_to_parent)
        return self._pool


def _leave_to_parent() -> None:
    """An interrupt ends the parent, which ends its workers; they say nothing of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return list(map(function, items))
