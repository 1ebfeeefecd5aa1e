"""Cascades of two judges: how many answers are passed on to the second, and how good both are together.

Both have judged the same samples; the verdicts of a cascade (:mod:`judge.cascade`) are derived from theirs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.comparison import SameSamples, same_samples
from eval.resampling import Interval, Outcomes, interval
from eval.verdicts import RUN, result_folder
from judge.cascade import certainty, pooled, stands
from judge.files import read_whole
from judge.types import Verdict

PASSED_ON = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Approximate shares of answers passed on, besides none and all."""


@dataclass(frozen=True, slots=True)
class Step:
    """A cascade at one value of ``sure``, or the second judge alone if that is ``None``.

    ``passed_on`` is the share of answers that the second judge also judges.
    """

    sure: float | None
    passed_on: float
    balanced_accuracy: float | None
    balanced_accuracy_ci: Interval | None
    auroc: float | None


@dataclass(frozen=True, slots=True)
class CascadeCurve:
    """Cascades of two judges on one benchmark; the last step is the second judge alone.

    ``first_weight`` is the weight of the first judge on the answers that it passes on.
    """

    benchmark: str
    first_weight: float
    steps: tuple[Step, ...]


def cascade_curves(
    first: Path, second: Path, *, first_weight: float = 0.0, bootstrap: int = 1000, seed: int = 0
) -> list[CascadeCurve]:
    """The cascades of two judges on each benchmark that both result folders hold.

    As in a real cascade, a combined probability at or above the second judge's threshold means ``FAIL``.

    Raises:
        InputError: see :func:`eval.comparison.same_samples`.
    """
    found = []
    judged = (read_whole(result_folder(second) / RUN) or {}).get("benchmarks", {})
    for both in same_samples(first, second):
        at = judged.get(both.benchmark, {}).get("judge", {}).get("threshold")
        pool = [pooled(*pair, first_weight, at) for pair in zip(both.first, both.second, strict=True)]
        steps = [_step(both, pool, sure, bootstrap, seed) for sure in sures_of(both.first)]
        alone = _step(both, both.second, None, bootstrap, seed)
        found.append(CascadeCurve(both.benchmark, first_weight, (*steps, alone)))
    return found


def sures_of(verdicts: Sequence[Verdict]) -> list[float]:
    """Values of ``sure`` at which a first judge passes on none, the shares in :data:`PASSED_ON`, or all."""
    ranked = sorted(certainty(verdict) for verdict in verdicts)
    found = (ranked[int(share * len(ranked))] for share in PASSED_ON)
    return sorted({0.5, 1.0, *(math.floor(1000 * sure) / 1000 for sure in found if sure > 0.5)})


def _step(both: SameSamples, again: Sequence[Verdict], sure: float | None, bootstrap: int, seed: int) -> Step:
    keep = [sure is not None and stands(verdict, sure) for verdict in both.first]
    verdicts = [one if kept else two for kept, one, two in zip(keep, both.first, again, strict=True)]
    outcomes = Outcomes(both.labels, both.groups, verdicts)
    figures = outcomes.figures()
    drawn = outcomes.resampled(bootstrap, seed)
    between = interval(drawn["balanced_accuracy"]) if drawn else None
    passed_on = 1 - sum(keep) / len(keep)
    return Step(sure, passed_on, figures["balanced_accuracy"], between, figures["auroc"])
