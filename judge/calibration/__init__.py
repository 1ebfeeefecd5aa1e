"""Calibrated probabilities: a judge's curve, how it is fitted, and how well it holds."""

from judge.calibration.curve import Calibration, Curve, Threshold, read_calibrations
from judge.calibration.fit import fit_calibration
from judge.calibration.reliability import bins, calibration_error

__all__ = [
    "Calibration",
    "Curve",
    "Threshold",
    "bins",
    "calibration_error",
    "fit_calibration",
    "read_calibrations",
]
