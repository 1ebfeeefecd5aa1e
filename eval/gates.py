"""Limits that a result must reach, for continuous integration: ``--fail-under balanced_accuracy=0.7``."""

from collections.abc import Sequence

from eval.repeats import FIGURES
from eval.report import Report
from judge.errors import InputError, JudgeError, unknown


def parse_limits(given: Sequence[str]) -> dict[str, float]:
    """Figures and the shares, 0 to 1, that they must reach.

    Raises:
        InputError: if a limit is not of the form ``figure=0.7``, or the figure is unknown.
    """
    found = {}
    for text in given:
        name, mark, value = text.partition("=")
        if name not in FIGURES:
            raise InputError(unknown("figure", name, FIGURES), field="fail-under")
        try:
            limit = float(value) if mark else -1.0
        except ValueError:
            limit = -1.0
        if not 0 <= limit <= 1:
            raise InputError(f"{text!r} is not a share from 0 to 1; write {name}=0.7", field="fail-under")
        found[name] = limit
    return found


def check_limits(reports: Sequence[Report], limits: dict[str, float]) -> None:
    """Raise ``JudgeError`` if a figure (the mean of repeated runs) is under its limit or missing."""
    under = []
    for report in reports:
        for name, limit in limits.items():
            value = getattr(report.mean_metrics(), name)
            if value is None or value < limit:
                shown = "none" if value is None else f"{value:.3f}"
                under.append(f"{report.benchmark}: {name} is {shown}, under {limit:g}")
    if under:
        raise JudgeError("; ".join(under))
