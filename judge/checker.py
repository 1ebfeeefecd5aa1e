"""What every judge is: a language model, a server, a floor, recorded verdicts; samples in, verdicts out."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from judge.types import Mode, Sample, Verdict


class Checker(ABC):
    """Anything that judges samples: one verdict for each, in their order."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What a report calls it, for instance ``floor:always-pass`` or the path of a model."""

    @property
    @abstractmethod
    def mode(self) -> Mode:
        """How its verdicts are made, see :data:`judge.types.Mode`."""

    @property
    @abstractmethod
    def chunk(self) -> int:
        """How many samples it takes together, 0 for all: a verdict's last digits depend on its neighbours."""

    @abstractmethod
    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge at most :attr:`chunk` samples together."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What a reader needs to repeat the verdicts: model, revision, prompt, backend; JSON-able."""

    def check(self, samples: Iterable[Sample]) -> list[Verdict]:
        """Judge samples; one verdict each, in their order."""
        return list(self.iter_check(samples))

    async def acheck(self, samples: Iterable[Sample]) -> list[Verdict]:
        """:meth:`check` for an event loop, in a thread."""
        return await asyncio.to_thread(self.check, samples)

    def iter_check(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """Judge samples as a stream, a chunk at a time; verdicts come as they are made."""
        stream = iter(samples)
        while chunk := list(islice(stream, self.chunk or None)):
            yield from self.check_chunk(chunk)


def restart(judge: Checker, done: int) -> int:
    """Where judging goes on after so many verdicts: a chunk that was cut off is judged from its start."""
    return done - done % judge.chunk if judge.chunk else 0
