"""The edit ``deletion``: removes the sentences that support an answer from the document, nothing else."""

import re
from collections.abc import Collection, Iterator, Sequence
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.parts import is_table, leaves_hole, parts_of, without
from data_pipeline.pairs.documents.supporting import (
    can_be_missed,
    is_gone,
    is_span,
    supporting_parts,
    words_of_parts,
)
from data_pipeline.text.content import words_of
from data_pipeline.text.facts import find_facts
from judge.baselines.overlap import units
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Sample

MOST = 8
"""At most this many parts of a document are removed ..."""
MOST_OF_LONG = 0.05
"""... or this share of a long one's."""
CANDIDATES = 40
"""The parts to remove from the faithful sample are chosen among this many candidates."""
LARGEST_SHARE = 0.5
"""At most this share of all parts: what is left must still be a document."""
ALIKE = 0.5
"""The faithful sample loses at least this share of the length that the hallucinated one loses."""
LIKED = 0.3
"""The distance in length of a part that supports another answer is multiplied by this."""
UNTOUCHED = 0.2
"""A part that an answer does not need shares at most this much of the answer's words or of its own."""
_POLAR = re.compile(
    r"(?:^|[:;,?.] )\W*(?:do|does|did|is|are|was|were|can|could|should|has|have|will|would|may)\b[^?]*\?",
    re.I,
)
"""A yes/no question. Rules cannot see where a document still implies its answer."""
_LIST = re.compile(r"\s*[,;，；、]\s*")
SHORTEST_CLAIM = 6
"""Fewest words of a sentence to count as a claim; twice as many characters in Chinese."""


def delete(gold: Sample, siblings: Sequence[Sample], rng: Random) -> Iterator[Contrast]:
    """Edits that remove the support of one claim of the answer; each claim is tried once.

    Args:
        gold: the answer and its document.
        siblings: other answers about the same document. If possible, the text that the faithful sample loses
            supports one of them, so that both samples lose text of the same kind.
        rng: breaks ties.
    """
    document, language = gold.document_text, gold.language
    if is_table(document):
        return
    most = max(MOST, MOST_OF_LONG * len(parts_of(document)))
    for claim in _claims(gold, rng):
        supporting = supporting_parts(document, claim, gold.question, language)
        if not can_be_removed(document, supporting, language, most):
            continue
        left = without(document, supporting)
        if not is_gone(left, document, claim, gold.question, language):
            continue
        others = elsewhere(gold, supporting, siblings, rng)
        if not others and len(supporting) > 1:  # such a short document would give itself away
            continue
        yield not_said("deletion", claim, language, without(document, others), left)


def not_said(edit_type: str, claim: str, language: Language, faithful: str, hallucinated: str) -> Contrast:
    """A claim with a document that supports it, and with one that does not say it."""
    return Contrast(
        edit_type=edit_type,
        change=f"文档中没有说：“{claim}”" if language == "zh" else f"the document does not say: '{claim}'",
        replaced="",
        inserted=claim,
        faithful_document=faithful,
        hallucinated_document=hallucinated,
    )


def _claims(gold: Sample, rng: Random) -> list[str]:
    """The claims of an answer: a short answer as a whole, the items of a list, or else the sentences; in
    random order.
    """
    document, language = gold.document_text, gold.language
    if is_span(gold.answer, document, language):
        return [gold.answer] if can_be_missed(gold.answer, language) else []
    items = _LIST.split(gold.answer)
    if len(items) > 1 and all(is_span(item, document, language) for item in items):
        return [item for item in rng.sample(items, len(items)) if can_be_missed(item, language)]
    if asks_yes_or_no(gold.question):
        return []
    shortest = SHORTEST_CLAIM * (2 if language == "zh" else 1)
    claims = [gold.answer[span.start : span.end] for span in sentence_spans(gold.answer)]
    claims = [claim for claim in claims if len(units(claim, language)) >= shortest]
    rng.shuffle(claims)
    return claims


def can_be_removed(document: str, numbers: Collection[int], language: Language, most: float = MOST) -> bool:
    """Are these parts of a document few enough to be removed, and does nothing left depend on them?"""
    if not 0 < len(numbers) <= min(most, LARGEST_SHARE * len(parts_of(document))):
        return False
    return not is_table(document) and not leaves_hole(document, numbers, language)


def asks_yes_or_no(question: str) -> bool:
    """Is an English question a yes/no question?"""
    return _POLAR.search(question) is not None


def elsewhere(gold: Sample, supporting: Sequence[int], siblings: Sequence[Sample], rng: Random) -> list[int]:
    """Parts that the answer does not need, together about as long as those that support it; empty if there
    are too few. Prefers parts that support another answer. Never takes a part right before one that supports
    this answer, nor the first part, which introduces the document.
    """
    document = gold.document_text
    parts = parts_of(document)
    length = [part.end - part.start for part in parts]
    others = [
        number
        for other in siblings
        for number in supporting_parts(document, other.answer, other.question, gold.language)
    ]
    first = 0 if 0 in supporting else 1
    free = [n for n in range(first, len(parts)) if n not in supporting and n + 1 not in supporting]
    free = [*(n for n in others if n in free), *rng.sample(free, min(CANDIDATES, len(free)))]
    free = [
        number
        for number in dict.fromkeys(free)
        if not _needs(gold, document[parts[number].start : parts[number].end])
    ]
    holders = _holders(gold)
    found: list[int] = []
    missing = float(sum(length[number] for number in supporting))
    while missing > 0 and len(found) < LARGEST_SHARE * len(parts):
        rest = [
            (abs(length[number] - missing) * (LIKED if number in others else 1.0), number)
            for number in free
            if number not in found and not any(held <= {*found, number} for held in holders)
        ]
        if not rest:
            break
        found.append(min(rest)[1])
        missing -= length[found[-1]] / ALIKE
    whole = missing <= 0 and not leaves_hole(document, found, gold.language)
    return sorted(found) if whole else []


def _holders(gold: Sample) -> list[set[int]]:
    """For each word of an answer, the parts of its document that hold it: one of them has to stay."""
    document, language = gold.document_text, gold.language
    held = words_of_parts(document, language)
    words = sorted(words_of(gold.answer, language))
    found = ({number for number, part in enumerate(held) if word in part} for word in words)
    return [numbers for numbers in found if numbers]


def _needs(gold: Sample, part: str) -> bool:
    """May the answer or one of its claims rest on a part of the document, by shared words or a fact?"""
    language = gold.language
    said, held = words_of(gold.answer, language), words_of(part, language)
    if len(said & held) > UNTOUCHED * min(len(said), len(held)):
        return True
    return any(occurs(fact.text, gold.answer) for fact in find_facts(part, language))
