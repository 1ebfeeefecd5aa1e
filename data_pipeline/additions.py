"""Unsupported additions: two answers that each go on with a second sentence, one supported and one foreign.

An added sentence would show by its length, and a bank of phrases by its wording. Here both twins grow by a
gold answer: the faithful one by another answer about its own document, the hallucinated one by an answer
about another document of the same kind. Neither length nor style tells them apart; only the document does.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge.types import Sample


@dataclass(frozen=True, slots=True)
class Addition:
    """The two answers of one pair, and the sentence that each of them added."""

    faithful: str
    hallucinated: str
    supported: str
    foreign: str


class Additions:
    """Finds a supported and a foreign sentence for a gold answer among the gold answers of a data set.

    Args:
        golds: all gold samples; those about one document name each other's supported sentences.
        seed: decides which.
    """

    def __init__(self, golds: Iterable[Sample], seed: int):
        self._seed = seed
        self._own: dict[str, list[Sample]] = {}
        self._kinds: dict[tuple[str, ...], list[Sample]] = {}
        for gold in golds:
            self._own.setdefault(gold.group, []).append(gold)
            self._kinds.setdefault(self._kind(gold), []).append(gold)

    @staticmethod
    def _kind(sample: Sample) -> tuple[str, ...]:
        return (sample.source, sample.task, sample.language, str(sample.meta.get("domain", "")))

    def find(self, gold: Sample) -> Addition | None:
        """An addition for one gold answer.

        ``None`` where its document has no second answer of its kind, or no other document has one of about
        the same length.
        """
        rng = random.Random(f"addition:{self._seed}:{gold.id}")
        own = [
            other
            for other in self._own[gold.group]
            if other.id != gold.id and self._kind(other) == self._kind(gold)
        ]
        if not own:
            return None
        supported = rng.choice(own).answer
        mine = {other.answer for other in self._own[gold.group]}  # another document may answer the same
        others = [
            other.answer
            for other in self._kinds[self._kind(gold)]
            if other.group != gold.group and other.answer not in mine
        ]
        alike = _of_length(others, len(supported))
        if not alike:
            return None
        foreign = rng.choice(alike)
        joint = "" if gold.language == "zh" else " "
        return Addition(
            faithful=f"{gold.answer}{joint}{supported}",
            hallucinated=f"{gold.answer}{joint}{foreign}",
            supported=supported,
            foreign=foreign,
        )


def _of_length(answers: Sequence[str], length: int, tolerance: float = 0.15) -> list[str]:
    """The answers whose length lies within a share of ``length``."""
    return [answer for answer in answers if abs(len(answer) - length) <= max(tolerance * length, 3)]
