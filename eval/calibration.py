"""Does a probability of FAIL mean what it says, and what is gained by leaving doubtful verdicts open?

Both are over the samples that have a probability; figures are shares from 0 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import isfinite

from judge.types import Label, Verdict

BINS = 10
COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Bin:
    """The samples with a probability of FAIL from ``low`` to below ``high``.

    ``p_fail`` is the mean of their probabilities, ``share_fail`` the share that is FAIL; a calibrated judge
    has the two equal.
    """

    low: float
    high: float
    n: int
    p_fail: float | None
    share_fail: float | None


@dataclass(frozen=True, slots=True)
class Selection:
    """``accuracy`` on the most confident ``coverage`` of all samples, down to ``confidence``.

    Confidence is the probability of the label that was given. Both are ``None`` where fewer samples than that
    have a label with a probability.
    """

    coverage: float
    accuracy: float | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Reliability bins of equal width, their expected calibration error, and selective accuracy."""

    n: int
    ece: float | None
    bins: tuple[Bin, ...]
    selective: tuple[Selection, ...]


def _scored(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> list[tuple[float, bool]]:
    """The probability of FAIL, and whether it is FAIL, where there is a probability."""
    return [
        (verdict.p_fail, label is Label.FAIL)
        for label, verdict in zip(labels, verdicts, strict=True)
        if verdict.p_fail is not None and isfinite(verdict.p_fail)
    ]


def reliability_bins(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> tuple[Bin, ...]:
    """:data:`BINS` bins of equal width over the probability of FAIL; 1 falls into the last."""
    parts: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for p_fail, fail in _scored(labels, verdicts):
        parts[min(int(p_fail * BINS), BINS - 1)].append((p_fail, fail))
    return tuple(
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=len(part),
            p_fail=sum(p_fail for p_fail, _ in part) / len(part) if part else None,
            share_fail=sum(fail for _, fail in part) / len(part) if part else None,
        )
        for number, part in enumerate(parts)
    )


def expected_calibration_error(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> float | None:
    """Mean distance between the probability of FAIL and the share of FAIL over the bins, weighted by samples.

    This is the binary form (Naeini et al., 2015), over the probability of the positive class. ``None`` where
    no verdict has a probability.
    """
    bins = reliability_bins(labels, verdicts)
    total = sum(part.n for part in bins)
    gaps = (
        part.n * abs(part.p_fail - part.share_fail)
        for part in bins
        if part.p_fail is not None and part.share_fail is not None
    )
    return sum(gaps) / total if total else None


def selective_accuracy(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> tuple[Selection, ...]:
    """Accuracy at each of :data:`COVERAGES`, the most confident samples first.

    Samples of equal confidence count with their mean, for their order means nothing.
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
    bins = reliability_bins(labels, verdicts)
    return Calibration(
        n=sum(part.n for part in bins),
        ece=expected_calibration_error(labels, verdicts),
        bins=bins,
        selective=selective_accuracy(labels, verdicts),
    )
