"""What encoder judges have in common: their calibration, and how they describe themselves."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge.checker import Checker
from judge.models.batching import CPU_PADDING
from judge.types import Mode

if TYPE_CHECKING:
    from judge.calibration.curve import Calibration, Curve


class CalibratedEncoder(Checker):
    """A judge that answers in verdict mode, with the fields that stand here."""

    network: Any
    model: str
    calibrations: "Mapping[Mode, Calibration]"
    threshold: float | None

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.model

    @property
    def mode(self) -> Mode:
        """An encoder writes nothing."""
        return "verdict"

    def calibration(self) -> "Calibration | None":
        """The calibration that holds for this form and number format, if there is one."""
        found = self.calibrations.get(self.mode)
        return found if found and self.misfit(found) is None else None

    def misfit(self, calibration: "Calibration") -> str | None:
        """Why a calibration does not hold for this judge; ``None`` where it does."""
        return calibration.misfit(self._model())

    def describe(self) -> dict[str, Any]:
        """Everything that identifies the judge."""
        found: dict[str, Any] = {**self._model(), "mode": self.mode}
        if self.threshold is not None:
            found["threshold"] = self.threshold
        if calibration := self.calibration():
            found["calibration"] = calibration.model_dump(include={"curve", "data_sha256"})
        return found

    def curve(self) -> "Curve | None":
        """The curve of :meth:`calibration`."""
        calibration = self.calibration()
        return None if calibration is None else calibration.curve

    def _most_padding(self) -> int | None:
        """By how many tokens a row may be shorter than the longest one of its batch."""
        return CPU_PADDING if self.network.device.type == "cpu" else None

    @abstractmethod
    def _model(self) -> dict[str, Any]:
        """The network, its number format and how samples are read."""
