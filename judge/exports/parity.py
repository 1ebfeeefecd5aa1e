"""Does an exported judge say what the original does? Both judge the same samples; figures and limits."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judge.checker import Checker
from judge.types import Sample, Verdict


@dataclass(frozen=True, slots=True)
class Limits:
    """How far an export may differ: labels in a hundred, and ``p_fail`` on average and at most."""

    changed: float
    mean: float
    largest: float


LIMITS = {
    "float32": Limits(changed=0, mean=0.0005, largest=0.005),
    "F16": Limits(changed=1, mean=0.005, largest=0.05),
    "Q8_0": Limits(changed=3, mean=0.02, largest=0.15),
}
"""By number format. float32 differs by the order of its sums, F16 by rounding of activations too."""


@dataclass(frozen=True, slots=True)
class Parity:
    """What the comparison gave.

    ``changed`` counts labels that are others, ``largest`` and ``mean`` are of the absolute differences of
    ``p_fail``; ``passed`` says whether all are within the limits of the format.
    """

    samples: int
    changed: int
    largest: float
    mean: float
    passed: bool

    def to_json(self) -> dict[str, Any]:
        """For ``judge.json``."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.changed} of {self.samples} labels changed, p_fail differs by {self.mean:.4f} on average "
            f"and {self.largest:.4f} at most"
        )


def compare(original: Checker, exported: Checker, samples: Sequence[Sample], kind: str) -> Parity:
    """Judge samples with both.

    Args:
        original: the judge in float32.
        exported: the same in another runtime.
        samples: at least one.
        kind: number format of the export.
    """
    return parity(original.check(samples), exported.check(samples), kind)


def parity(original: Sequence[Verdict], exported: Sequence[Verdict], kind: str) -> Parity:
    """How far verdicts on the same samples agree; one that either side alone gives differs by 1."""
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
