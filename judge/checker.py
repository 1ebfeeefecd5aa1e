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

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Yield one verdict for each sample, in order, as they are made."""
        ...

    def describe(self) -> dict[str, Any]:
        """What a reader needs to repeat the verdicts: model, revision, prompt, backend; JSON-able."""
        ...
