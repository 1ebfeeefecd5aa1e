"""Gold answers near a gold answer: those of the same document, and those of other documents of its kind."""

from data_pipeline.store import SampleStore
from judge.types import Sample

POOL = 2000
"""Answers of one kind that foreign ones are drawn from; of a larger set, a seeded choice of so many."""

_KIND = "source = ? AND task = ? AND language = ? AND domain = ?"


class Neighbours:
    """Finds the gold answers beside one, by document.

    Args:
        golds: all gold samples of a build.
        seed: decides which documents stand for a large set.
    """

    def __init__(self, golds: SampleStore, seed: int):
        self._golds = golds
        self._seed = seed
        self._pools: dict[tuple[str, ...], list[Sample]] = {}
        golds.index("document")

    def siblings(self, gold: Sample) -> list[Sample]:
        """The other gold samples of its kind about the same document, by its very text, in their order."""
        text = gold.document_text
        return [
            other
            for other in self._golds.samples("document = ?", (gold.group,))
            if other.id != gold.id and kind_of(other) == kind_of(gold) and other.document_text == text
        ]

    def pool(self, gold: Sample) -> list[Sample]:
        """Up to ``POOL`` gold samples of its kind, in their order."""
        kind = kind_of(gold)
        if kind not in self._pools:
            self._pools[kind] = list(self._golds.draw(_KIND, kind, f"pool:{self._seed}", POOL))
        return self._pools[kind]


def kind_of(sample: Sample) -> tuple[str, ...]:
    """What samples have to have in common to stand for each other: source, task, language and domain."""
    return (sample.source, sample.task.value, sample.language, str(sample.meta.get("domain", "")))
