"""Two judges in a row: a cheap one says what it is sure of, a better one judges the rest.

    judge batch answers.jsonl -o verdicts.jsonl --model ./big --first reference --sure 0.8

What passes on is what the first judge doubts, what it could not read (a language, an empty reply), and what
it did not read whole. Both have to be calibrated, or ``sure`` means little, and probabilities of the two do
not rank in one list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from judge.checker import Checker, in_chunks
from judge.errors import InputError
from judge.types import Mode, Sample, Verdict

SURE = 0.8
"""By default a first verdict stands if its label has this probability."""


@dataclass(frozen=True)
class CascadeJudge(Checker):
    """Judges with ``first``, and again with ``second`` where ``first`` is not sure.

    Args:
        first: the cheap judge.
        second: the better one; its mode is the cascade's.
        sure: probability that the first judge's label needs, from 0.5 (all of its verdicts stand) to 1 (only
            those that it has no doubt of).

    Raises:
        InputError: ``sure`` is no such number.
    """

    first: Checker
    second: Checker
    sure: float = SURE
    _working: Lock = field(default_factory=Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0.5 <= self.sure <= 1:
            raise InputError(f"is {self.sure}, a probability from 0.5 to 1 is wanted", field="sure")

    @property
    def name(self) -> str:
        """Both judges' names."""
        return f"{self.first.name} then {self.second.name}"

    @property
    def mode(self) -> Mode:
        """That of the second judge; the verdicts of the first may have no reasoning."""
        return self.second.mode

    @property
    def chunk(self) -> int:
        """How many samples the first judge takes together."""
        return self.first.chunk

    @property
    def at_once(self) -> int:
        """As many callers as the second judge works for."""
        return self.second.at_once

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some samples with the first judge, and those that it doubts with the second."""
        with self._working:  # the first may take one caller at a time
            verdicts = list(self.first.check_chunk(samples))
        passed_on = [place for place, verdict in enumerate(verdicts) if not stands(verdict, self.sure)]
        for places in in_chunks(passed_on, self.second.chunk):
            again = self.second.check_chunk([samples[place] for place in places])
            for place, verdict in zip(places, again, strict=True):
                verdicts[place] = verdict
        yield from verdicts

    def describe(self) -> dict[str, Any]:
        """What identifies the second judge, and under ``first`` the other one."""
        return {**self.second.describe(), "first": {**self.first.describe(), "sure": self.sure}}


def stands(verdict: Verdict, sure: float) -> bool:
    """Is this verdict of a first judge the last word?"""
    if verdict.label is None or verdict.p_fail is None or verdict.cut_chars:
        return False
    return max(verdict.p_fail, 1 - verdict.p_fail) >= sure
