"""Does a probability of FAIL mean what it says? Reliability bins and the expected calibration error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The samples with a probability of FAIL from ``low`` to below ``high``.

    ``p_fail`` is the mean of their probabilities, ``share_fail`` the share that are FAIL; for a calibrated
    judge the two are equal.
    """

    low: float
    high: float
    n: int
    p_fail: float | None
    share_fail: float | None


def bins(p_fail: Sequence[float], fails: Sequence[bool]) -> tuple[Bin, ...]:
    """:data:`BINS` bins of equal width over the probability of FAIL; 1 falls into the last.

    Args:
        p_fail: the probability of FAIL of each sample, from 0 to 1.
        fails: whether it is FAIL.
    """
    parts: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for p, fail in zip(p_fail, fails, strict=True):
        parts[min(int(p * BINS), BINS - 1)].append((p, fail))
    return tuple(
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=len(part),
            p_fail=sum(p for p, _ in part) / len(part) if part else None,
            share_fail=sum(fail for _, fail in part) / len(part) if part else None,
        )
        for number, part in enumerate(parts)
    )


def calibration_error(p_fail: Sequence[float], fails: Sequence[bool]) -> float | None:
    """Mean distance between the probability of FAIL and the share of FAIL over the bins, weighted by samples.

    This is the binary form (Naeini et al., 2015), over the probability of the positive class. ``None``
    without samples.
    """
    gaps = (
        part.n * abs(part.p_fail - part.share_fail)
        for part in bins(p_fail, fails)
        if part.p_fail is not None and part.share_fail is not None
    )
    return sum(gaps) / len(p_fail) if p_fail else None


def chance_error(p_fail: Sequence[float], draws: int = 200, seed: int = 0) -> float | None:
    """The calibration error that these probabilities would show by chance if they were exactly right.

    With a few hundred samples in ten bins, even a perfect judge has an error above 0 (Roelofs et al., 2022);
    this is its mean over ``draws`` draws of the labels.
    """
    if not p_fail:
        return None
    import numpy as np

    p = np.asarray(p_fail, dtype=float)
    places = np.minimum((p * BINS).astype(int), BINS - 1)
    draw = np.random.default_rng(seed)
    gaps = [np.bincount(places, (draw.random(len(p)) < p) - p) for _ in range(draws)]
    return float(np.abs(gaps).sum() / draws / len(p))


def wilson(hits: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; it stays within 0 to 1 and holds for small and extreme counts."""
    z = 1.959964
    centre = (hits + z * z / 2) / (n + z * z)
    half = z * math.sqrt(hits * (n - hits) / n + z * z / 4) / (n + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


def share_interval(hits: Sequence[bool], groups: Sequence[str]) -> tuple[float, float]:
    """Wilson's interval of a share of samples, with the number of documents as the sample size.

    Errors on samples about one document are not independent, so these count as one.
    """
    n = len(set(groups))
    return wilson(n * sum(hits) / len(hits), n)
