"""From which probability on a judge says FAIL, and for which share of hallucinated answers it speaks."""

from collections.abc import Mapping
from typing import Any

from judge.calibration.curve import Calibration, threshold_named
from judge.errors import InputError
from judge.types import Mode


def deciding(
    mode: Mode,
    calibrations: Mapping[Mode, Calibration],
    calibration: Calibration | None,
    threshold: str | None,
    prior: float | None,
) -> dict[str, Any]:
    """A judge's ``calibrations`` and ``threshold``, as they are asked for.

    A calibrated probability holds where as many answers are hallucinated as among those that it was fitted
    on. For another share its log-odds move by as much as those of the share do (Saerens et al., 2002), and
    the threshold moves with them, so that no label changes; one that is given as a number stays.

    Args:
        mode: the judge's.
        calibrations: all that it has.
        calibration: the one that holds for it.
        threshold: a number, ``precision``, ``recall``, or ``None`` for the judge's own.
        prior: the share of answers that is hallucinated, between 0 and 1; ``None`` for that fitted on.

    Raises:
        InputError: the threshold is none of these, the share is not such a number, or no calibration holds.
    """
    if prior is None:
        return {"calibrations": calibrations, "threshold": threshold_named(threshold, calibration)}
    if not 0 < prior < 1:
        raise InputError(f"is {prior}, expected a share between 0 and 1, such as 0.1", field="prior")
    if calibration is None:
        raise InputError(
            "moves calibrated probabilities, and this judge has no calibration that holds here; "
            "judge calibrate fits one",
            field="prior",
        )
    moved = calibration.at_rate(prior)
    # In reason mode the label is what was written, unless a threshold is asked for.
    own = moved.half if mode == "verdict" else None
    at = own if threshold is None else threshold_named(threshold, moved)
    return {"calibrations": {**calibrations, mode: moved}, "threshold": at}
