"""Embedding similarity for what the rules leave open: a paraphrase is close to the reference.

It is cheaper than a judge and less reliable: "1805" is close to "1806". Hence it gives a separate score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval.embeddings import TextEncoder
from eval.open_factual.answers import Answer
from eval.open_factual.citations import without_citations
from eval.open_factual.scoring import Label, Score, first_line
from eval.open_factual.tasks import FactualTask
from judge.errors import InputError

THRESHOLD = 0.8
"""Cosine at or above which an answer counts as a paraphrase of the reference."""


@dataclass(frozen=True)
class Similarity:
    """Cosine of the mean embeddings of two texts.

    Args:
        model: a transformers encoder, by Hub id (``sentence-transformers/all-MiniLM-L6-v2``) or folder.
        threshold: cosine at or above which an answer is correct.

    Raises:
        InputError: if the threshold is not a cosine.
    """

    model: str
    threshold: float = THRESHOLD

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1:
            raise InputError(f"threshold {self.threshold} is not a cosine; {THRESHOLD} is usual")

    def describe(self) -> dict[str, Any]:
        """For the report."""
        return {"model": self.model, "threshold": self.threshold}

    def of(self, tasks: Sequence[FactualTask], answers: Sequence[Answer]) -> list[float]:
        """The cosine of the first line of each answer and the reference."""
        if not tasks:
            return []
        texts = [
            first_line(without_citations(answer.text) if task.passages else answer.text)
            for task, answer in zip(tasks, answers, strict=True)
        ]
        vectors = self._encoder.means([*(task.reference for task in tasks), *texts])
        pairs = zip(vectors[: len(tasks)], vectors[len(tasks) :], strict=True)
        return [round(float(wanted @ given), 4) for wanted, given in pairs]

    @cached_property
    def _encoder(self) -> TextEncoder:
        return TextEncoder(self.model)


def similar_label(score: Score, similarity: float | None, threshold: float) -> Label | None:
    """The extended label, changed to correct if ``similarity`` reaches the threshold."""
    if score.extended == "incorrect" and similarity is not None and similarity >= threshold:
        return "correct"
    return score.extended
