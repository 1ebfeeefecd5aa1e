"""A judge that says what a test wants of it, and what the tests of all adapters judge."""

from collections.abc import Iterator, Sequence
from typing import Any

from judge.checker import Checker
from judge.types import Label, Mode, Sample, Verdict

DOCUMENT = "The tower was built in 1889. It is 330 m high."
QUESTION = "How high is the tower?"
FAITHFUL, WRONG, GARBLED = "It is 330 m high.", "It is 500 m high.", "It is high, as towers go."

VERDICTS = {
    FAITHFUL: Verdict(Label.PASS, 0.125, reasoning="The document says 330 m."),
    WRONG: Verdict(Label.FAIL, 0.75),
    GARBLED: Verdict(None, error="the reply holds no verdict"),
}


class ScriptedJudge(Checker):
    """Answers by :data:`VERDICTS`; ``seen`` keeps what it was asked, ``calls`` how many at a time."""

    name = "scripted"
    mode: Mode = "verdict"
    chunk = 256

    def __init__(self) -> None:
        self.seen: list[Sample] = []
        self.calls: list[int] = []

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        self.calls.append(len(samples))
        self.seen += samples
        return iter([VERDICTS[sample.answer] for sample in samples])

    def describe(self) -> dict[str, Any]:
        return {"model": self.name}
