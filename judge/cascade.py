"""Two judges in a row: a cheap one decides what it is sure of, a better one judges the rest.

    judge batch answers.jsonl -o verdicts.jsonl --model ./big --cascade reference --set cascade_threshold=0.6

A sample is passed on if the first judge is unsure, gave no verdict (foreign language, empty reply), or did
not read the whole document. Both judges have to be calibrated: otherwise ``sure`` means little, and their
probabilities do not rank in one list. With a weight, the first judge also counts in what is passed on: two
judges that err in different places do better together (logarithmic opinion pool: Genest and Zidek, 1986).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from judge.calibration.curve import mean_chance
from judge.checker import Checker, in_chunks
from judge.errors import InputError
from judge.types import Label, Mode, Sample, Verdict

SURE = 0.6
"""By default the first verdict stands if its label has at least this probability."""
NEVER = 1e-6
"""Probabilities are clipped to this and 1 minus this, so that neither judge can outweigh the other alone."""


@dataclass(frozen=True)
class CascadeJudge(Checker):
    """Judges with ``first``, and again with ``second`` where ``first`` is not sure.

    Args:
        first: the cheap judge.
        second: the better one; its mode is the cascade's.
        sure: probability that the first judge's label needs to stand, from 0.5 (all of its verdicts stand)
            to 1 (only those it has no doubt about).
        first_weight: weight of its log-odds in samples passed on, from 0 (the second judge alone) to 1.
        threshold: in these, the label is ``FAIL`` at or above this combined probability of FAIL.

    Raises:
        InputError: if ``sure`` or ``first_weight`` is out of range, or a weight is given in reason mode,
            where the label follows from the reasoning.
    """

    first: Checker
    second: Checker
    sure: float = SURE
    first_weight: float = 0.0
    threshold: float | None = None
    _working: Lock = field(default_factory=Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0.5 <= self.sure <= 1:
            raise InputError(
                f"is {self.sure}, expected a probability from 0.5 to 1", field="cascade_threshold"
            )
        if not 0 <= self.first_weight <= 1:
            raise InputError(f"is {self.first_weight}, expected a number from 0 to 1", field="cascade_weight")
        if self.first_weight and self.mode == "reason":
            raise InputError(
                "weighs verdicts, and a reasoning has one of its own; leave it at 0", field="cascade_weight"
            )

    @property
    def name(self) -> str:
        """Both judges' names."""
        return f"{self.first.name} then {self.second.name}"

    @property
    def mode(self) -> Mode:
        """The second judge's mode; verdicts of the first may lack a reasoning."""
        return self.second.mode

    @property
    def chunk(self) -> int:
        """How many samples the first judge takes together."""
        return self.first.chunk

    @property
    def at_once(self) -> int:
        """As many callers as the second judge serves at once."""
        return self.second.at_once

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge samples with the first judge, and those it is unsure of with the second."""
        with self._working:  # the first may take one caller at a time
            verdicts = list(self.first.check_chunk(samples))
        passed_on = [place for place, verdict in enumerate(verdicts) if not stands(verdict, self.sure)]
        for places in in_chunks(passed_on, self.second.chunk):
            again = self.second.check_chunk([samples[place] for place in places])
            for place, verdict in zip(places, again, strict=True):
                verdicts[place] = pooled(verdicts[place], verdict, self.first_weight, self.threshold)
        yield from verdicts

    def describe(self) -> dict[str, Any]:
        """What identifies the second judge, and under ``first`` the other one."""
        weight = {"weight": self.first_weight} if self.first_weight else {}
        return {**self.second.describe(), "first": {**self.first.describe(), "sure": self.sure, **weight}}


def stands(verdict: Verdict, sure: float) -> bool:
    """Is the first judge's verdict final?"""
    return certainty(verdict) >= sure


def certainty(verdict: Verdict) -> float:
    """Probability of a verdict's own label; 0 if there is none, or part of the document was not read."""
    if verdict.label is None or verdict.p_fail is None or verdict.cut_chars:
        return 0.0
    return verdict.p_fail if verdict.label is Label.FAIL else 1 - verdict.p_fail


def pooled(first: Verdict, second: Verdict, weight: float, threshold: float | None = None) -> Verdict:
    """The second verdict, with the weighted mean of both log-odds if the first has a weight.

    If either has no probability, or the first did not read the whole document, the second stands unchanged.
    """
    if not weight or first.p_fail is None or second.p_fail is None or first.cut_chars:
        return second
    p_fail = mean_chance(_bounded(second.p_fail), _bounded(first.p_fail), weight)
    label = Label.FAIL if p_fail >= (0.5 if threshold is None else threshold) else Label.PASS
    unsupported = second.unsupported or first.unsupported if label is Label.FAIL else ()
    return replace(second, label=label, p_fail=p_fail, unsupported=unsupported)


def _bounded(p_fail: float) -> float:
    return min(max(p_fail, NEVER), 1 - NEVER)
