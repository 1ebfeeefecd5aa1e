"""What the two kinds of encoder judges have in common: those that read pairs, and those that read pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge.calibrated import CalibratedChecker
from judge.checker import VERDICT_CHUNK
from judge.models.batching import CPU_PADDING
from judge.models.identity import ENCODER
from judge.types import Language, Mode

if TYPE_CHECKING:
    from judge.calibration.curve import Calibration

BATCH_TOKENS = 4096


@dataclass(frozen=True)
class CalibratedEncoder(CalibratedChecker):
    """A judge that answers in verdict mode.

    Args:
        network: the encoder with its heads; or its export, in ONNX Runtime.
        model: the judge's name.
        precision: number format that the network computes in.
        languages: languages that it was trained on; other samples get no verdict. Empty: any language.
        batch_tokens: padded tokens per batch.
        calibrations: by mode; see :mod:`judge.calibration`. ``p_fail`` is then the calibrated probability.
        threshold: the label is ``FAIL`` at or above this ``p_fail``; 0.5 by default.
    """

    network: Any
    model: str = ENCODER
    precision: str = "float32"
    languages: tuple[Language, ...] = ("en",)
    batch_tokens: int = BATCH_TOKENS
    calibrations: "Mapping[Mode, Calibration]" = field(default_factory=dict)
    threshold: float | None = None

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

    def reads_with(self) -> dict[str, Any]:
        """The network and its number format; subclasses add how samples are read."""
        return {
            "backend": self.network.backend,
            "model": self.model,
            "parameters": self.network.size,
            "dtype": self.precision,
            "device": str(self.network.device),
        }

    def _most_padding(self) -> int | None:
        """Maximum padding of a row in a batch, in tokens."""
        return CPU_PADDING if str(self.network.device) == "cpu" else None

    def _foreign(self, language: Language) -> str | None:
        """Why samples in a language get no verdict; ``None`` if they do."""
        if not self.languages or language in self.languages:
            return None
        return f"this judge does not read language {language!r}"
