"""Calibration: a curve from a judge's probability of FAIL to the share of such answers that are FAIL.

``judge calibrate`` fits it (:mod:`judge.calibration.fit`) and stores it in the judge's ``judge.json``, by
mode; :func:`judge.load.load_judge` applies it. A curve never falls, so it never reverses a ranking.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from judge.configs import StrictConfig
from judge.errors import InputError
from judge.files import JUDGE_FILE
from judge.models.identity import read_identity
from judge.models.quantization import Quantization
from judge.types import Mode

Method = Literal["platt", "temperature", "isotonic"]
Target = Literal["precision", "recall"]

_SURE = 1e-12
"""Probabilities are kept at least this far from 0 and 1, so that their log-odds are finite."""


class Curve(StrictConfig):
    """Maps a raw to a calibrated probability of FAIL.

    ``temperature`` divides the log-odds (Guo et al., 2017); ``platt`` also shifts them by ``bias`` (Platt,
    1999), for judges that say one label too readily; ``isotonic`` is linear between ``points``. ``shift``
    moves the log-odds of the result, for another share of FAIL; it is never fitted.
    """

    method: Method
    temperature: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    bias: float = Field(default=0.0, allow_inf_nan=False)
    points: tuple[tuple[float, float], ...] = ()
    shift: float = Field(default=0.0, allow_inf_nan=False, exclude_if=lambda shift: shift == 0)

    @model_validator(mode="after")
    def _check_points(self) -> "Curve":
        if self.method == "isotonic" and not self.points:
            raise ValueError("an isotonic curve has no points")
        if list(self.points) != sorted(self.points):
            raise ValueError("the points of a curve are not in order")
        return self

    def __call__(self, p_fail: float) -> float:
        """The calibrated probability of a raw one."""
        if self.method == "isotonic":
            found = self._between_points(p_fail)
            return chance(log_odds(found) + self.shift) if self.shift else found
        return chance(log_odds(p_fail) / self.temperature + self.bias + self.shift)

    def _between_points(self, p_fail: float) -> float:
        after = bisect_right(self.points, (p_fail, math.inf))
        if after == 0 or after == len(self.points):
            return self.points[min(after, len(self.points) - 1)][1]
        (x0, y0), (x1, y1) = self.points[after - 1 : after + 1]
        return y0 + (y1 - y0) * (p_fail - x0) / (x1 - x0)


class Threshold(StrictConfig):
    """FAIL at or above this calibrated probability, with the precision and recall on the fitted samples."""

    wanted: float
    threshold: float
    precision: float
    recall: float


class NeverSeen(StrictConfig):
    """How confident a judge may be on unseen sources, measured on judges trained without some sources.

    ``temperature`` is fitted to the log-odds of those judges on those sources; the two errors are
    leave-one-source-out: each source by a curve of the others.
    """

    temperature: float = Field(gt=0, allow_inf_nan=False)
    samples: int
    sources: int
    ece_before: float
    ece_after: float


class Calibration(StrictConfig):
    """A curve, thresholds, the prompt and number format they were fitted with, and the samples.

    It applies to the same prompt and to weights that are quantized in the same way. Among float32, bfloat16
    and float16 it is the same one: rounding moves probabilities far less than calibrating does. Of a
    classifier, ``fail_classes`` are those that say FAIL. Older files lack ``precision``, ``quantization`` and
    ``fail_classes``; their weights are taken as plain.

    The two errors are of out-of-fold probabilities: each sample's by a curve that saw no sample about its
    document. If ``never_seen`` is set, the curve was flattened accordingly after the fit, and these two
    errors are from before that.
    """

    prompt_hash: str
    precision: str | None = None
    quantization: Quantization | None = None
    fail_classes: list[str] | None = Field(default=None, exclude_if=lambda found: found is None)
    data_sha256: str
    samples: int
    fail: int
    groups: int
    curve: Curve
    thresholds: dict[Target, Threshold] = Field(default_factory=dict)
    ece_before: float
    ece_after: float
    never_seen: NeverSeen | None = Field(default=None, exclude_if=lambda found: found is None)

    def misfit(self, description: Mapping[str, Any]) -> str | None:
        """Why it does not apply to a judge with this ``describe()``; ``None`` if it does."""
        if self.prompt_hash != description["prompt_hash"]:
            return "another prompt"
        if self.fail_classes not in (None, _fail_classes(description)):
            return "another meaning of the classes"
        quantization = description.get("quantization")
        if self.quantization != quantization:
            return f"{_weights(self.quantization)}, and the judge is loaded with {_weights(quantization)}"
        return None

    def for_never_seen(self, found: NeverSeen) -> "Calibration":
        """This calibration with the confidence that is justified on unseen sources; labels stay the same.

        Raises:
            ValueError: if the curve is isotonic, which has no temperature.
        """
        if self.curve.method == "isotonic":
            raise ValueError("an isotonic curve has no temperature")
        by = self.curve.temperature / found.temperature
        changed = {"temperature": found.temperature, "bias": by * self.curve.bias}
        moved = self._with(changed, lambda odds: by * odds)
        return moved.model_copy(update={"never_seen": found})

    def at_rate(self, fail_rate: float) -> "Calibration":
        """This calibration for another share of FAIL than among the answers it was fitted on.

        Probabilities and thresholds move together (Saerens et al., 2002), so labels stay the same. The
        precision and recall of the thresholds still refer to the fitted answers.
        """
        by = log_odds(fail_rate) - log_odds(self.fail / self.samples)
        return self._with({"shift": by}, lambda odds: odds + by)

    def _with(self, curve: dict[str, float], move: Callable[[float], float]) -> "Calibration":
        """This calibration with changes to the curve, and with the thresholds' log-odds moved along."""
        thresholds = {
            target: kept.model_copy(update={"threshold": chance(move(log_odds(kept.threshold)))})
            for target, kept in self.thresholds.items()
        }
        return self.model_copy(
            update={"curve": self.curve.model_copy(update=curve), "thresholds": thresholds}
        )

    @property
    def half(self) -> float:
        """The probability that was 0.5 before :meth:`at_rate` moved it."""
        return chance(self.curve.shift)


def _weights(quantization: Quantization | None) -> str:
    return f"{quantization} weights" if quantization else "plain weights"


def log_odds(p: float) -> float:
    """Natural logarithm of the odds of a probability; finite for 0 and 1 too."""
    p = min(max(p, _SURE), 1 - _SURE)
    return math.log(p / (1 - p))


def chance(odds: float) -> float:
    """The probability with these log-odds."""
    return 1 / (1 + math.exp(min(-odds, 700)))


def mean_chance(first: float, second: float, weight: float) -> float:
    """The probability whose log-odds are the mean of two; the second's have the weight, the first's the rest.

    A logarithmic opinion pool (Genest and Zidek, 1986): judges that err in different places do better so.
    """
    return chance((1 - weight) * log_odds(first) + weight * log_odds(second))


def _fail_classes(described: Mapping[str, Any]) -> list[str] | None:
    found: list[str] | None = described.get("head", {}).get("fail")
    return found


def fitted_for(described: Mapping[str, Any], data_sha256: str) -> dict[str, Any]:
    """The fields of a calibration that name a judge, by its ``describe()``, and the file of samples."""
    return {
        "prompt_hash": described["prompt_hash"],
        "precision": described.get("dtype"),
        "quantization": described.get("quantization"),
        "fail_classes": _fail_classes(described),
        "data_sha256": data_sha256,
    }


def read_calibrations(model: str, revision: str | None = None) -> dict[Mode, Calibration]:
    """The calibrations by mode in the ``judge.json`` of a local folder or of a Hub repository, if any.

    Raises:
        InputError: if the calibrations in the file are not valid.
    """
    try:
        found = read_identity(model, revision).get("calibration", {}).items()
        return {mode: Calibration.model_validate(values) for mode, values in found}
    except (InputError, ValueError, AttributeError, ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"holds no calibration that can be read ({reason}); remove it, and run judge calibrate",
            file=Path(model) / JUDGE_FILE,
            field="calibration",
        ) from None


def threshold_named(threshold: str | None, calibration: Calibration | None) -> float | None:
    """The probability that ``--threshold`` stands for: a number, or ``precision`` or ``recall``.

    Raises:
        InputError: if it is none of these, or the judge was not calibrated for it.
    """
    if threshold is None:
        return None
    if threshold in ("precision", "recall"):
        found = None if calibration is None else calibration.thresholds.get(threshold)  # type: ignore[call-overload]
        if found is None:
            raise InputError(f"this judge has no threshold for {threshold}; judge calibrate makes one")
        return float(found.threshold)
    try:
        value = float(threshold)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(f"threshold {threshold!r} is neither a number from 0 to 1, nor precision or recall")
    return value
