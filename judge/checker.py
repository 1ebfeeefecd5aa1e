"""What every judge has in common, be it a language model, a remote service or a trivial floor."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from judge.types import Mode, Sample, Verdict


class Checker(Protocol):
    """Anything that judges samples."""

    @property
    def name(self) -> str:
        """What a report calls it, for instance ``floor:always-pass`` or the path of a model."""
        ...

    @property
    def mode(self) -> Mode:
        """How its verdicts are made, see :data:`judge.types.Mode`."""
        ...

    @property
    def chunk(self) -> int:
        """How many samples it takes together, 0 for all: a verdict's last digits depend on its neighbours."""
        ...

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Yield one verdict for each sample, in order, as they are made."""
        ...

    def describe(self) -> dict[str, Any]:
        """What a reader needs to repeat the verdicts: model, revision, prompt, backend; JSON-able."""
        ...


def restart(judge: Checker, done: int) -> int:
    """Where judging goes on after so many verdicts: a chunk that was cut off is judged from its start."""
    return done - done % judge.chunk if judge.chunk else 0
