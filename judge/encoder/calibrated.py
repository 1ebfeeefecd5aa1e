"""Base class of the two kinds of encoder judges."""

from typing import Any

from judge.calibrated import CalibratedChecker
from judge.checker import VERDICT_CHUNK
from judge.models.batching import CPU_PADDING
from judge.types import Mode


class CalibratedEncoder(CalibratedChecker):
    """A judge that answers in verdict mode; its subclasses have the fields below."""

    network: Any
    model: str

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.model

    @property
    def mode(self) -> Mode:
        """Verdict mode only: an encoder writes no text."""
        return "verdict"

    @property
    def chunk(self) -> int:
        """How many samples are sorted into batches together."""
        return VERDICT_CHUNK

    def _most_padding(self) -> int | None:
        """Maximum padding of a row in a batch, in tokens."""
        return CPU_PADDING if str(self.network.device) == "cpu" else None
