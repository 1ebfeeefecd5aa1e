"""One edit of a document that takes an answer's ground away, by rule, and its faithful counterpart."""

import random
from collections.abc import Callable, Iterator

from data_pipeline.contrast import Contrast
from data_pipeline.documents.deletion import delete
from data_pipeline.documents.swap import swap
from judge.types import Sample

DOCUMENT_EDITS: dict[str, Callable[[Sample, random.Random], Iterator[Contrast]]] = {
    "deletion": delete,
    "document_swap": swap,
}
"""The kinds of edit; each yields what it can do with a gold sample, best first."""


def edit_document(gold: Sample, seed: int) -> Iterator[Contrast]:
    """A document that no longer bears a gold answer; nothing where rules cannot make one surely.

    The seed and the sample decide which kind is tried first.
    """
    rng = random.Random(f"document:{seed}:{gold.id}")
    kinds = list(DOCUMENT_EDITS)
    rng.shuffle(kinds)
    for kind in kinds:
        for found in DOCUMENT_EDITS[kind](gold, rng):
            if found.faithful_document != found.hallucinated_document and found.hallucinated_document:
                yield found
                return
