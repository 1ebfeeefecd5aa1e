"""Unsupported additions: two answers that each go on with a second sentence, one supported and one foreign.

An added sentence would show by its length, and a bank of phrases by its wording. Here both twins grow by a
gold answer: the faithful one by another answer about its own document, the hallucinated one by an answer
about another document of the same kind. Neither length nor style tells them apart; only the document does.
"""

import random
from collections.abc import Iterator, Sequence

from data_pipeline.contrast import Contrast
from data_pipeline.neighbours import Neighbours
from judge.types import Sample


def add_sentences(gold: Sample, neighbours: Neighbours, seed: int) -> Iterator[Contrast]:
    """A supported and a foreign addition to a gold answer.

    None where its document has no second answer of its kind, or no other document has one of about the same
    length.
    """
    rng = random.Random(f"addition:{seed}:{gold.id}")
    siblings = neighbours.siblings(gold)
    if not siblings:
        return
    supported = rng.choice(siblings).answer
    mine = {gold.answer, *(other.answer for other in siblings)}  # another document may answer the same
    others = [
        other.answer
        for other in neighbours.pool(gold)
        if other.group != gold.group and other.answer not in mine
    ]
    alike = _of_length(others, len(supported))
    if not alike:
        return
    foreign = rng.choice(alike)
    zh = gold.language == "zh"
    joint = "" if zh else " "
    yield Contrast(
        edit_type="added_sentence",
        change=f"文档没有提到“{foreign}”" if zh else f"the document does not mention '{foreign}'",
        replaced=supported,
        inserted=foreign,
        faithful=f"{gold.answer}{joint}{supported}",
        hallucinated=f"{gold.answer}{joint}{foreign}",
    )


def _of_length(answers: Sequence[str], length: int, tolerance: float = 0.15) -> list[str]:
    """The answers whose length lies within a share of ``length``."""
    return [answer for answer in answers if abs(len(answer) - length) <= max(tolerance * length, 3)]
