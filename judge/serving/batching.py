"""Dynamic batching: samples of requests that arrive together are judged together.

One thread judges, so that the model never works on two batches at once and the event loop stays free. Samples
that arrive meanwhile wait; up to ``max_batch`` of them are the next batch. An idle judge waits up to
``max_wait_ms`` after the first sample for others to join it.

If the engine makes its own batches (``at_once`` of :class:`judge.backends.base.Backend`), every sample goes
to it immediately, in its own thread, up to ``max_batch`` at a time; none waits for another to finish.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from judge.checker import Checker
from judge.errors import JudgeError, counted
from judge.serving.limits import Limits
from judge.serving.metrics import Metrics
from judge.types import Sample, Verdict


class QueueFull(Exception):
    """The queue is full for now; ``retry_after`` is an estimate in whole seconds."""

    def __init__(self, retry_after: int):
        super().__init__(f"the queue is full; try again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(slots=True, eq=False)
class _Waiting:
    sample: Sample
    claims: bool
    arrived: float
    verdict: "asyncio.Future[Verdict]"


class Batcher:
    """A judge for many callers of one event loop.

    Args:
        judge: judges the batches.
        claims: judges those that ask for claims.
        limits: size of batches and of the queue.
        metrics: records every batch.
        seen: called with every sample.
    """

    def __init__(
        self,
        judge: Checker,
        claims: Checker,
        limits: Limits,
        metrics: Metrics,
        seen: Callable[[Sample], object] = lambda sample: None,
    ):
        self._seen = seen
        self._judge, self._claims, self._limits, self._metrics = judge, claims, limits, metrics
        self._threads = min(judge.at_once, limits.max_batch)
        """Number of batches judged at once; if more than 1, a batch is one sample."""
        self._queue: deque[_Waiting] = deque()
        self._arrival = asyncio.Event()
        self._free = asyncio.Semaphore(self._threads)
        self._seconds_a_sample = 0.0
        metrics.queue.set_function(lambda: len(self._queue))

    def check_room(self, samples: int = 1) -> None:
        """Raise :class:`QueueFull` unless the queue has space for this many more samples."""
        if len(self._queue) + samples > self._limits.max_queue:
            seconds = math.ceil(len(self._queue) * self._seconds_a_sample)
            raise QueueFull(min(max(seconds, 1), 60))

    async def check(self, samples: Sequence[Sample], claims: bool = False) -> list[Verdict]:
        """One verdict per sample, in order. If the call is cancelled, its waiting samples are removed.

        Raises:
            QueueFull: if there is no space for all of them; none is judged then.
            Exception: the judge's error on any of them.
        """
        self.check_room(len(samples))
        loop = asyncio.get_running_loop()
        items = [_Waiting(sample, claims, loop.time(), loop.create_future()) for sample in samples]
        self._queue.extend(items)
        self._arrival.set()
        try:
            return await asyncio.gather(*(item.verdict for item in items))
        except asyncio.CancelledError:
            for item in items:
                with suppress(ValueError):  # already being judged
                    self._queue.remove(item)
            raise

    async def run(self) -> None:
        """Judge what arrives until cancelled."""
        with ThreadPoolExecutor(self._threads, thread_name_prefix="judge") as threads:
            async with asyncio.TaskGroup() as judging:
                while True:
                    await self._free.acquire()
                    batch = await self._next_batch()
                    judging.create_task(self._judge_batch(threads, batch))

    async def _judge_batch(self, threads: ThreadPoolExecutor, batch: Sequence[_Waiting]) -> None:
        """Judge a batch in a thread, and pass the verdicts to the waiting callers."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        found = await loop.run_in_executor(threads, self._judged, batch)
        self._note(len(batch), loop.time() - start)
        self._free.release()
        for item, verdict in zip(batch, found, strict=True):
            if item.verdict.done():  # its caller is gone
                continue
            if isinstance(verdict, Exception):
                item.verdict.set_exception(verdict)
            else:
                item.verdict.set_result(verdict)

    async def _next_batch(self) -> list[_Waiting]:
        while not self._queue:
            self._arrival.clear()
            await self._arrival.wait()
        if self._threads > 1:
            return [self._queue.popleft()]
        due = self._queue[0].arrived + self._limits.max_wait_ms / 1000
        with suppress(TimeoutError):
            async with asyncio.timeout_at(due):
                while len(self._queue) < self._limits.max_batch:
                    self._arrival.clear()
                    await self._arrival.wait()
        size = min(len(self._queue), self._limits.max_batch)
        return [self._queue.popleft() for _ in range(size)] or await self._next_batch()

    def _judged(self, batch: Sequence[_Waiting]) -> list[Verdict | Exception]:
        """The verdicts on a batch, in its order; runs in the thread."""
        for item in batch:
            self._seen(item.sample)
        plain = iter(self._verdicts(self._judge, [item.sample for item in batch if not item.claims]))
        claims = iter(self._verdicts(self._claims, [item.sample for item in batch if item.claims]))
        return [next(claims if item.claims else plain) for item in batch]

    def _verdicts(self, judge: Checker, samples: Sequence[Sample]) -> list[Verdict | Exception]:
        """Judge samples; if that fails, judge them one by one, so that only the culprits fail."""
        if not samples:
            return []
        try:
            found = list(judge.iter_check(samples))
            if len(found) != len(samples):
                raise JudgeError(
                    f"the judge gave {counted(len(found), 'verdict')} for {counted(len(samples), 'sample')}"
                )
        except Exception as error:
            if len(samples) == 1:
                return [error]
            return [verdict for sample in samples for verdict in self._verdicts(judge, [sample])]
        return [*found]

    def _note(self, samples: int, seconds: float) -> None:
        self._metrics.batch_samples.observe(samples)
        self._metrics.batch_seconds.observe(seconds)
        # A moving average: recent batches count most. While samples wait, all threads work.
        share = 0.3 if self._seconds_a_sample else 1.0
        self._seconds_a_sample += share * (seconds / samples / self._threads - self._seconds_a_sample)
