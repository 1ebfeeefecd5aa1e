"""Unsupported additions: two answers that each go on with a second sentence, one supported and one foreign.

An added sentence would show by its length, and a bank of phrases by its wording. Here both twins grow by a
gold answer: the faithful one by another answer about its own document, the hallucinated one by an answer
about another document of the same kind. Neither length nor style tells them apart; only the document does.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from data_pipeline.store import SampleStore
from judge.types import Sample

POOL = 2000
"""Answers of one kind that foreign sentences are drawn from; of a larger set, a seeded choice of so many."""

_KIND = "source = ? AND task = ? AND language = ? AND domain = ?"


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

    def __init__(self, golds: SampleStore, seed: int):
        self._golds = golds
        self._seed = seed
        self._pools: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        golds.index("document")

    def find(self, gold: Sample) -> Addition | None:
        """An addition for one gold answer.

        ``None`` where its document has no second answer of its kind, or no other document has one of about
        the same length.
        """
        rng = random.Random(f"addition:{self._seed}:{gold.id}")
        kind = _kind(gold)
        related = [
            other for other in self._golds.samples("document = ?", (gold.group,)) if other.id != gold.id
        ]
        own = [other.answer for other in related if _kind(other) == kind]
        if not own:
            return None
        supported = rng.choice(own)
        mine = {gold.answer, *(other.answer for other in related)}  # another document may answer the same
        others = [answer for group, answer in self._pool(kind) if group != gold.group and answer not in mine]
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

    def _pool(self, kind: tuple[str, ...]) -> list[tuple[str, str]]:
        """Document and answer of up to ``POOL`` golds of a kind, in the golds' order."""
        if kind not in self._pools:
            drawn = self._golds.draw(_KIND, kind, f"pool:{self._seed}", POOL)
            self._pools[kind] = [(sample.group, sample.answer) for sample in drawn]
        return self._pools[kind]


def _kind(sample: Sample) -> tuple[str, ...]:
    return (sample.source, sample.task.value, sample.language, str(sample.meta.get("domain", "")))


def _of_length(answers: Sequence[str], length: int, tolerance: float = 0.15) -> list[str]:
    """The answers whose length lies within a share of ``length``."""
    return [answer for answer in answers if abs(len(answer) - length) <= max(tolerance * length, 3)]
