"""What all judges have in common: language models, servers, baselines, recorded verdicts."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from judge.errors import InputError
from judge.types import Mode, Sample, Span, Verdict

Item = TypeVar("Item")
Result = TypeVar("Result")

VERDICT_CHUNK = 64
"""Samples per chunk of models in verdict mode."""


class Checker(ABC):
    """Anything that judges samples: one verdict for each, in their order."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The judge's name in reports, such as ``baseline:always-pass`` or the path of a model."""

    @property
    @abstractmethod
    def mode(self) -> Mode:
        """How its verdicts are made, see :data:`judge.types.Mode`."""

    @property
    @abstractmethod
    def chunk(self) -> int:
        """Samples judged together, 0 for all; a verdict's last digits depend on the others in its chunk."""

    @property
    def at_once(self) -> int:
        """How many callers, each in its own thread, it serves at once; 1 means one after another."""
        return 1

    @abstractmethod
    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge at most :attr:`chunk` samples together."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What is needed to reproduce the verdicts: model, revision, prompt, backend; JSON-serializable."""

    def check(self, samples: Iterable[Sample]) -> list[Verdict]:
        """Judge samples; one verdict each, in their order.

        Raises:
            InputError: a document or an answer is empty or has no visible character.
        """
        if isinstance(samples, Sample):
            raise InputError("is one Sample; give a list of them", field="samples")
        return list(self.iter_check(list(judgeable(samples))))

    async def acheck(self, samples: Iterable[Sample]) -> list[Verdict]:
        """:meth:`check` for an event loop, in a thread."""
        return await asyncio.to_thread(self.check, samples)

    def iter_check(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """Judge samples as a stream, a chunk at a time; verdicts are yielded as they are made.

        If the judge serves several callers at once, enough chunks run in parallel to keep it busy.
        """
        chunks = in_chunks(samples, self.chunk)
        if self.at_once == 1:
            for chunk in chunks:
                yield from self.check_chunk(chunk)
            return
        threads = 1 + -(-self.at_once // (self.chunk or self.at_once))
        for verdicts in ahead(lambda chunk: list(self.check_chunk(chunk)), chunks, threads):
            yield from verdicts

    def restart(self, done: int) -> int:
        """The sample to resume from after this many verdicts.

        An interrupted chunk is judged again from its start, so that each verdict keeps its neighbours.
        """
        return done - done % self.chunk if self.chunk else 0

    def check_sentences(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Verdict, tuple[Verdict, ...]]]:
        """Judge answers and each of their sentences; of a sentence only label and probability count.

        By default each sentence is judged as an answer of its own.

        Args:
            samples: the samples.
            sentences: for each sample, the spans of the sentences in its answer.
        """
        pieces = [
            piece
            for sample, spans in zip(samples, sentences, strict=True)
            for piece in (sample, *_alone(sample, spans))
        ]
        verdicts = self.iter_check(pieces)
        for sample, spans in zip(samples, sentences, strict=True):
            whole = next(verdicts)
            yield whole, tuple(islice(verdicts, len(_alone(sample, spans)))) or (whole,) * len(spans)


def judgeable(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Pass samples through. Raises ``InputError`` for one that cannot be judged (:attr:`Sample.fault`)."""
    for place, sample in enumerate(samples):
        if not isinstance(sample, Sample):
            raise InputError(f"item {place} is of type {type(sample).__name__}; give a list of judge.Sample")
        if (fault := sample.fault) is not None:
            field, message = fault
            raise InputError(message, file=f"sample {sample.id!r}", field=field)
        yield sample


def _alone(sample: Sample, sentences: Sequence[Span]) -> list[Sample]:
    """The sentences of an answer as samples; none if the answer is a single sentence."""
    if len(sentences) == 1:
        return []
    return [
        replace(sample, answer=sample.answer[span.start : span.end], label=None)  # the label is the answer's
        for span in sentences
    ]


def ahead(
    make: Callable[[Item], Result], items: Iterable[Item], threads: int = 1, most: int | None = None
) -> Iterator[Result]:
    """The results of ``make`` for each item, in order, computed in threads, ahead of the caller.

    Args:
        make: makes the result of one item.
        items: the items; they may be endless.
        threads: how many are made at once.
        most: how many are read ahead, so that others go on while the first is slow; by default ``threads``.

    Items are read in the caller's thread, as some sources require. An error in reading or making an item is
    raised in its place, after the results before it; work begun after it is waited for and dropped. After
    Ctrl-C nothing is waited for: a server may never answer. Nor is it if the caller stops early (which
    Ctrl-C is, if it comes while the caller works on a result) and ``make`` serves several threads anyway.
    """
    stream, ended, waits = iter(items), False, True
    work, given = deque[Future[Result]](), SimpleQueue[tuple[Item, Future[Result]] | None]()

    def run() -> None:
        while (job := given.get()) is not None:
            item, future = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(make(item))
            except BaseException as error:
                future.set_exception(error)

    workers: list[Thread] = []
    try:
        while True:
            while not ended and len(work) <= (most or threads):
                try:
                    item = next(stream)
                except StopIteration:
                    ended = True
                    break
                except Exception as error:
                    ended = True
                    work.append(Future())
                    work[-1].set_exception(error)
                else:
                    work.append(Future())
                    given.put((item, work[-1]))
                    if len(workers) < threads:
                        # A daemon: at its exit the interpreter waits for threads of a ThreadPoolExecutor.
                        workers.append(Thread(target=run, name=f"ahead-{len(workers)}", daemon=True))
                        workers[-1].start()
            if not work:
                return
            yield work.popleft().result()
    except (KeyboardInterrupt, SystemExit):
        waits = False
        raise
    except GeneratorExit:
        waits = threads == 1
        raise
    finally:
        for future in work:
            future.cancel()
        for _ in workers:
            given.put(None)
        if waits:
            for worker in workers:
                worker.join()


def in_chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in chunks of ``size`` (the last may be shorter); 0 puts all in one chunk."""
    stream = iter(items)
    while chunk := list(islice(stream, size or None)):
        yield chunk
