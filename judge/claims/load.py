"""A loaded judge with its claims: the calibration that its ``judge.json`` keeps, if it holds."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from judge.calibration.curve import unreadable
from judge.checker import Checker
from judge.claims.checker import ClaimsJudge
from judge.claims.rule import FIELD, ClaimsCalibration
from judge.errors import warn


def with_claims(
    judge: Checker, identity: Mapping[str, Any], model: str, threshold: float | None = None
) -> ClaimsJudge:
    """A judge that tells its claims.

    Args:
        judge: a judge with probabilities.
        identity: its ``judge.json``; empty where it has none.
        model: its name, for messages.
        threshold: see :class:`ClaimsJudge`; that of the judge by default.

    Raises:
        InputError: ``judge.json`` holds something else than such a calibration.
    """
    if threshold is None:
        threshold = getattr(judge, "threshold", None)
    calibration = read_claims(identity, model)
    if calibration is not None and (judge.mode != "verdict" or calibration.misfit(judge.describe())):
        warn(
            f"{model}: its calibration of claims is set aside, because it was fitted to another mode, prompt "
            "or number format; judge calibrate --claims fits another"
        )
        calibration = None
    return ClaimsJudge(judge, calibration, 0.5 if threshold is None else threshold)


def read_claims(identity: Mapping[str, Any], model: str) -> ClaimsCalibration | None:
    """The calibration of claims in a ``judge.json``, if any; raises ``InputError`` where it is none."""
    if FIELD not in identity:
        return None
    try:
        return ClaimsCalibration.model_validate(identity[FIELD])
    except ValidationError as error:
        raise unreadable(error, model, FIELD, " of claims", " --claims") from None
