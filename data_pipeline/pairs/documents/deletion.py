"""The edit ``deletion``: the sentences that support an answer leave the document, and nothing else does."""

import re
from collections.abc import Iterator, Sequence
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
from judge.types import Sample

MOST = 8
"""Parts of a document that are taken out at most ..."""
MOST_OF_LONG = 0.05
"""... or this share of a long one's."""
CANDIDATES = 40
"""Parts that the faithful sample may lose are looked for among this many candidates."""
LARGEST_SHARE = 0.5
"""At most this share of all parts: what is left must still be a document."""
ALIKE = 0.5
"""What the faithful sample loses has at least this share of the length that the hallucinated one loses."""
LIKED = 0.3
"""By so much nearer in length does a part seem that supports another answer."""
UNTOUCHED = 0.2
"""Share of words, the answer's or its own, that a part may share with an answer which does not need it."""
_POLAR = re.compile(
    r"(?:^|[:;,?.] )\W*(?:do|does|did|is|are|was|were|can|could|should|has|have|will|would|may)\b[^?]*\?",
    re.I,
)
"""A question to be answered by yes or no. What follows from results, rules do not see where it is left."""
CHANGE = {"en": "the document does not say: '{}'", "zh": "文档中没有说：“{}”"}
"""How a pair tells what the document lacks."""
_LIST = re.compile(r"\s*[,;，；、]\s*")
SHORTEST_CLAIM = 6
"""Words of a sentence that is worth while to be looked for; twice as many characters in Chinese."""


def delete(gold: Sample, siblings: Sequence[Sample], rng: Random) -> Iterator[Contrast]:
    """Edits that take the ground of one claim of the answer away; each claim is tried once.

    Args:
        gold: the answer and its document.
        siblings: other answers about the same document: what the faithful sample loses supports one of them,
            if that can be, so that what is gone is alike in both.
        rng: decides between what is as good.
    """
    document, language = gold.document_text, gold.language
    if is_table(document):
        return
    parts = parts_of(document)
    for claim in _claims(gold, rng):
        supporting = supporting_parts(document, claim, gold.question, language)
        if not supporting or len(supporting) > min(
            max(MOST, MOST_OF_LONG * len(parts)), LARGEST_SHARE * len(parts)
        ):
            continue
        left = without(document, supporting)
        if leaves_hole(document, supporting, language):
            continue
        if not is_gone(left, document, claim, gold.question, language):
            continue
        others = elsewhere(gold, supporting, siblings, rng)
        if not others and len(supporting) > 1:  # that much shorter a document would tell itself
            continue
        yield Contrast(
            edit_type="deletion",
            change=CHANGE[language].format(claim),
            replaced="",
            inserted=claim,
            faithful_document=without(document, others),
            hallucinated_document=left,
        )


def _claims(gold: Sample, rng: Random) -> list[str]:
    """What the answer claims: the whole of a short one, or the items of a list, else its sentences, in random
    order.
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


def asks_yes_or_no(question: str) -> bool:
    """Is an English question to be answered by yes or no?"""
    return _POLAR.search(question) is not None


def elsewhere(gold: Sample, supporting: Sequence[int], siblings: Sequence[Sample], rng: Random) -> list[int]:
    """Parts that the answer does not need, together about as long as those that support it; none where there
    are not enough. Best such as support another answer. None that leads up to what supports this one; nor the
    first, which says what a document is about, unless it supports the answer.
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
    """For each word of an answer that its document holds, the parts that do: one of them has to stay."""
    document, language = gold.document_text, gold.language
    held = words_of_parts(document, language)
    words = sorted(words_of(gold.answer, language))
    found = ({number for number, part in enumerate(held) if word in part} for word in words)
    return [numbers for numbers in found if numbers]


def _needs(gold: Sample, part: str) -> bool:
    """May the answer, or one of its claims, rest on a part of the document? Shared words or a fact tell."""
    language = gold.language
    said, held = words_of(gold.answer, language), words_of(part, language)
    if len(said & held) > UNTOUCHED * min(len(said), len(held)):
        return True
    return any(occurs(fact.text, gold.answer) for fact in find_facts(part, language))
