"""Easy pairs to start with: a second answer follows the gold one, from the same document or a foreign one.

Both answers grow by a sentence of the same kind and length, so neither length nor style tells them apart. How
well the two sentences fit together gives some away; the audit measures how many.
"""

import random
import re
from collections.abc import Iterator

from data_pipeline.edits.edit import bare
from data_pipeline.pairs.contrast import Contrast, added_sentence
from data_pipeline.pairs.neighbours import Neighbours
from data_pipeline.text.content import words_of
from judge.types import Sample

AGAIN = 0.5
"""A second sentence that shares more than this part of the content words may repeat the first."""
LENGTHS = 0.15
"""The two second sentences differ in length by at most this share."""
_SENTENCE = re.compile(r"(?:[A-Z\d\"“][^\n]* [^\n]* [^\n]*[.!?]|[^\n]{6,}[。！？])[\"”]?")


def foreign_sentences(gold: Sample, neighbours: Neighbours, seed: int) -> Iterator[Contrast]:
    """A gold answer followed by another one about its document, or about another document of its kind.

    None if the document has no second answer that is a sentence and says something else.
    """
    rng = random.Random(f"foreign:{seed}:{gold.id}")
    if not _SENTENCE.fullmatch(gold.answer):
        return
    siblings = neighbours.siblings(gold)
    own = [other.answer for other in siblings if _goes_on(gold, other.answer)]
    if not own:
        return
    supported = rng.choice(own)
    own_answers = {gold.answer, *(other.answer for other in siblings)}  # another document may answer the same
    there = bare(gold.document_text)
    others = [
        other.answer
        for other in neighbours.pool(gold)
        if other.group != gold.group
        and other.answer not in own_answers
        and bare(other.answer) not in there
        and abs(len(other.answer) - len(supported)) <= LENGTHS * len(supported)
        and _goes_on(gold, other.answer)
    ]
    if not others:
        return
    yield added_sentence(gold.answer, supported, rng.choice(others), gold.language)


def _goes_on(gold: Sample, text: str) -> bool:
    """Is a text a sentence that says something else than the gold answer?"""
    first, second = words_of(gold.answer, gold.language), words_of(text, gold.language)
    return bool(_SENTENCE.fullmatch(text)) and len(first & second) <= AGAIN * min(len(first), len(second))
