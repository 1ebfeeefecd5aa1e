"""Are the probabilities of FAIL calibrated, and how much accuracy is gained by leaving out doubtful verdicts?

Both use only the samples that have a probability; figures are shares from 0 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import isfinite

from judge.calibration import reliability
from judge.calibration.reliability import Bin
from judge.types import Label, Verdict

COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Selection:
    """``accuracy`` on the most confident share ``coverage`` of all samples, down to ``confidence``.

    Confidence is the probability of the predicted label. Both are ``None`` if too few samples have a label
    with a probability.
    """

    coverage: float
    accuracy: float | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Reliability bins of equal width, their expected calibration error, and selective accuracy.

    ``ece`` is ``None`` if no verdict has a probability, see :func:`judge.calibration.calibration_error`;
    ``ece_chance`` is the one that a judge whose probabilities are exactly right would show on as few samples.
    """

    n: int
    ece: float | None
    bins: tuple[Bin, ...]
    selective: tuple[Selection, ...]
    ece_chance: float | None = None


def scored(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> tuple[list[float], list[bool]]:
    """The probabilities of FAIL, and whether the gold label is FAIL, of samples with a probability."""
    scored = [
        (verdict.p_fail, label is Label.FAIL)
        for label, verdict in zip(labels, verdicts, strict=True)
        if verdict.p_fail is not None and isfinite(verdict.p_fail)
    ]
    return [p_fail for p_fail, _ in scored], [fail for _, fail in scored]


def selective_accuracy(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> tuple[Selection, ...]:
    """Accuracy at each of :data:`COVERAGES`, the most confident samples first.

    Samples of equal confidence each count with their mean accuracy, since their order is arbitrary.
    """
    ranked = sorted(
        (
            (verdict.p_fail if verdict.label is Label.FAIL else 1 - verdict.p_fail, verdict.label is label)
            for label, verdict in zip(labels, verdicts, strict=True)
            if verdict.label is not None and verdict.p_fail is not None and isfinite(verdict.p_fail)
        ),
        reverse=True,
    )
    ties = [[right for _, right in tied] for _, tied in groupby(ranked, lambda pair: pair[0])]
    sums = list(accumulate(sum(rights) / len(rights) for rights in ties for _ in rights))
    found = []
    for coverage in COVERAGES:
        wanted = max(1, round(coverage * len(labels)))
        enough = wanted <= len(sums)
        found.append(
            Selection(
                coverage,
                accuracy=sums[wanted - 1] / wanted if enough else None,
                confidence=ranked[wanted - 1][0] if enough else None,
            )
        )
    return tuple(found)


def calibration(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> Calibration:
    """Everything of this module for one set of verdicts."""
    p_fail, fails = scored(labels, verdicts)
    return Calibration(
        n=len(p_fail),
        ece=reliability.calibration_error(p_fail, fails),
        bins=reliability.bins(p_fail, fails),
        selective=selective_accuracy(labels, verdicts),
        ece_chance=reliability.chance_error(p_fail),
    )
