"""A judge's threshold, and the share of hallucinated answers that its probabilities assume."""

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
    """A judge's ``calibrations`` and ``threshold``, as requested.

    Calibrated probabilities assume the share of hallucinated answers in the samples they were fitted on. For
    another share, their log-odds move as much as those of the share (Saerens et al., 2002), and the threshold
    moves with them, so that no label changes; a threshold given as a number stays.

    Args:
        mode: the judge's mode.
        calibrations: all of the judge's calibrations.
        calibration: the one that applies.
        threshold: a number, ``precision``, ``recall``, or ``None`` for the judge's own.
        prior: the share of answers that are hallucinated, between 0 and 1; ``None`` for the fitted share.

    Raises:
        InputError: if threshold or prior is invalid, or no calibration applies.
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
    # In reason mode the label is as written, unless a threshold is given.
    own = moved.half if mode == "verdict" else None
    at = own if threshold is None else threshold_named(threshold, moved)
    return {"calibrations": {**calibrations, mode: moved}, "threshold": at}
