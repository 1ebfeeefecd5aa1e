"""What calibrated judges have in common: checking that the calibration applies, and describing it."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge.checker import Checker
from judge.types import Mode

if TYPE_CHECKING:
    from judge.calibration.curve import Calibration, Curve


class CalibratedChecker(Checker):
    """A judge with calibrations and a threshold."""

    calibrations: "Mapping[Mode, Calibration]"
    threshold: float | None

    @abstractmethod
    def reads_with(self) -> dict[str, Any]:
        """The model, its number format and how it reads samples: what a calibration is fitted for."""

    def calibration(self) -> "Calibration | None":
        """The calibration that applies to this mode and prompt, if there is one."""
        found = self.calibrations.get(self.mode)
        return found if found and found.misfit(self.reads_with()) is None else None

    def curve(self) -> "Curve | None":
        """The curve of :meth:`calibration`."""
        calibration = self.calibration()
        return None if calibration is None else calibration.curve

    def describe(self) -> dict[str, Any]:
        """Everything that identifies the judge: :meth:`reads_with`, mode, threshold and calibration."""
        found: dict[str, Any] = {**self.reads_with(), "mode": self.mode}
        if self.threshold is not None:
            found["threshold"] = self.threshold
        if calibration := self.calibration():
            found["calibration"] = calibration.model_dump(include={"curve", "data_sha256"})
        return found
