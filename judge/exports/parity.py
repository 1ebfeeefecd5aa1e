"""Does an exported judge agree with the original? Both judge the same samples, within set limits."""

from collections.abc import Sequence
from dataclasses import dataclass

from judge.types import Verdict


@dataclass(frozen=True, slots=True)
class Limits:
    """How far an export may differ: percent of labels changed, and ``p_fail`` on average and at most."""

    changed: float
    mean: float
    largest: float


LIMITS = {
    "float32": Limits(changed=0, mean=0.0005, largest=0.005),
    "F16": Limits(changed=1, mean=0.005, largest=0.05),
    "Q8_0": Limits(changed=3, mean=0.02, largest=0.15),
}
"""By number format. float32 differs by the order of summation, F16 also by rounding of activations."""


@dataclass(frozen=True, slots=True)
class Parity:
    """The result of the comparison.

    ``changed`` counts labels that differ, ``largest`` and ``mean`` are of the absolute differences in
    ``p_fail``; ``passed`` says whether all are within the limits of the number format.
    """

    samples: int
    changed: int
    largest: float
    mean: float
    passed: bool

    def __str__(self) -> str:
        return (
            f"{self.changed} of {self.samples} labels changed, p_fail differs by {self.mean:.4f} on average "
            f"and {self.largest:.4f} at most"
        )


def parity(original: Sequence[Verdict], exported: Sequence[Verdict], kind: str) -> Parity:
    """How far verdicts on the same samples, at least one, agree.

    A ``p_fail`` that only one side gives differs by 1. ``kind`` is the number format of the export.
    """
    gaps: list[float] = []
    changed = 0
    for first, second in zip(original, exported, strict=True):
        changed += first.label is not second.label
        if first.p_fail is None or second.p_fail is None:
            gaps.append(0.0 if first.p_fail is second.p_fail else 1.0)
        else:
            gaps.append(abs(first.p_fail - second.p_fail))
    limits = LIMITS[kind]
    mean, largest = sum(gaps) / len(gaps), max(gaps)
    passed = 100 * changed <= limits.changed * len(gaps) and mean <= limits.mean and largest <= limits.largest
    return Parity(len(gaps), changed, largest, mean, passed)
