"""A judge that says what a test wants of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from judge.checker import Checker
from judge.types import Mode, Sample, Verdict


class Scripted(Checker):
    """Gives each sample the verdict that a function has for it; ``asked`` keeps the chunks it was given."""

    name = "scripted"
    mode: Mode = "verdict"
    chunk = 4

    def __init__(self, verdict_on: Callable[[Sample], Verdict]):
        self.verdict_on = verdict_on
        self.asked: list[list[Sample]] = []

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        self.asked.append(list(samples))
        return map(self.verdict_on, samples)

    def describe(self) -> dict[str, Any]:
        return {"model": self.name}
