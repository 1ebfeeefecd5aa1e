"""What the two kinds of encoder judges have in common."""

from typing import Any

from judge.calibrated import CalibratedChecker
from judge.models.batching import CPU_PADDING
from judge.types import Mode


class CalibratedEncoder(CalibratedChecker):
    """A judge that answers in verdict mode, with the fields that stand here."""

    network: Any
    model: str

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.model

    @property
    def mode(self) -> Mode:
        """An encoder writes nothing."""
        return "verdict"

    def _most_padding(self) -> int | None:
        """By how many tokens a row may be shorter than the longest one of its batch."""
        return CPU_PADDING if self.network.device.type == "cpu" else None
