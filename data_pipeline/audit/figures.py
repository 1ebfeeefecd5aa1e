"""Figures with intervals: shares, AUROC, balanced accuracy. Rows about one document form a cluster.

An interval is the figure plus or minus 1.96 standard errors. The influence of each row on the figure is
summed by document before squaring (for AUROC: Obuchowski 1997, the clustered form of DeLong's).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Z = 1.96
"""Standard errors to either side, for intervals of 95 %."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value from 0 to 1 with its 95 % interval."""

    value: float
    low: float
    high: float

    def record(self) -> dict[str, float]:
        """As JSON."""
        return {"value": round(self.value, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


def share(values: Sequence[float], groups: Sequence[str]) -> Figure:
    """The mean of values from 0 to 1, such as 1 for right and 0 for wrong."""
    import numpy as np

    found = np.asarray(values, dtype=float)
    mean = float(found.mean())
    return _figure(mean, (found - mean) / len(found), groups)


def balanced_accuracy(fail: Sequence[bool], predicted: Sequence[bool], groups: Sequence[str]) -> Figure:
    """The mean of the recalls of FAIL and of PASS; both classes must occur."""
    import numpy as np

    truth, right = np.asarray(fail), np.asarray(fail) == np.asarray(predicted)
    value, influence = 0.0, np.zeros(len(truth))
    for rows in (truth, ~truth):
        recall = float(right[rows].mean())
        value += recall / 2
        influence[rows] = (right[rows] - recall) / (2 * rows.sum())
    return _figure(value, influence, groups)


def auroc(fail: Sequence[bool], scores: Sequence[float], groups: Sequence[str]) -> Figure:
    """The area under the ROC curve of scores that are higher for FAIL; both classes must occur."""
    import numpy as np

    truth, found = np.asarray(fail), np.asarray(scores, dtype=float)
    influence = np.zeros(len(truth))
    value = 0.5
    for rows, sign in ((truth, 1), (~truth, -1)):
        others = np.sort(sign * found[~rows])
        below = np.searchsorted(others, sign * found[rows], side="left")
        level = np.searchsorted(others, sign * found[rows], side="right")
        placed = (below + level) / (2 * len(others))  # share of the other class that lies on the right side
        value = float(placed.mean())
        influence[rows] = (placed - value) / rows.sum()
    return _figure(value, influence, groups)


def _figure(value: float, influence: Any, groups: Sequence[str]) -> Figure:
    import numpy as np

    _, places = np.unique(np.asarray(groups, dtype=object), return_inverse=True)
    sums = np.bincount(places, weights=influence)
    clusters = len(sums)
    error = float(np.sqrt(np.square(sums).sum() * clusters / max(clusters - 1, 1)))
    return Figure(value, max(0.0, value - Z * error), min(1.0, value + Z * error))
