"""The edit ``deletion``: the sentences that bear an answer leave the document, and nothing else does."""

from collections.abc import Iterator, Sequence
from random import Random

from data_pipeline.contrast import Contrast
from data_pipeline.documents.bearing import (
    bearing_parts,
    can_be_missed,
    is_gone,
    is_span,
    parts_of,
    words_of,
)
from data_pipeline.perturb.edit import occurs
from data_pipeline.perturb.facts import find_facts
from judge.floors.overlap import units
from judge.prompting.sentences import sentence_spans
from judge.types import Sample

MOST = 3
"""Parts of a document that are taken out at most."""
LARGEST_SHARE = 0.5
"""Of all parts, at most so many: what is left must still be a document."""
UNTOUCHED = 0.2
"""Share of words, the answer's or its own, that a part may share with an answer which does not need it."""
SHORTEST_CLAIM = 6
"""Words of a sentence that is worth while to be looked for; twice as many characters in Chinese."""


def delete(gold: Sample, rng: Random) -> Iterator[Contrast]:
    """Edits that take the ground of one claim of the answer away; each claim is tried once."""
    document, language = gold.document_text, gold.language
    parts = parts_of(document)
    for claim in _claims(gold, rng):
        bearing = bearing_parts(document, claim, gold.question, language)
        if not bearing or len(bearing) > min(MOST, LARGEST_SHARE * len(parts)):
            continue
        left = without(document, bearing)
        if not is_gone(left, document, claim, gold.question, language):
            continue
        change = f"文档中不再有：“{claim}”" if language == "zh" else f"the document no longer says: '{claim}'"
        others = _elsewhere(gold, bearing, rng)
        yield Contrast(
            edit_type="deletion",
            change=change,
            replaced="",
            inserted=claim,
            faithful_document=without(document, others),
            hallucinated_document=left,
        )


def without(document: str, numbers: Sequence[int]) -> str:
    """A document less some of its parts, with the spaces or the line break that belonged to them."""
    kept, start = "", 0
    for number, part in enumerate(parts_of(document)):
        if number in numbers:
            kept += document[start : part.start]
            after = document[part.end :]
            own_line = kept[-1:] in ("", "\n") and after[:1] == "\n"
            start = len(document) - len(after[1:] if own_line else after.lstrip(" "))
    return (kept + document[start:]).strip()


def _claims(gold: Sample, rng: Random) -> list[str]:
    """What the answer claims: the whole of a short one, else its sentences, in random order."""
    if is_span(gold.answer, gold.document_text, gold.language):
        return [gold.answer] if can_be_missed(gold.answer, gold.language) else []
    shortest = SHORTEST_CLAIM * (2 if gold.language == "zh" else 1)
    claims = [gold.answer[span.start : span.end] for span in sentence_spans(gold.answer)]
    claims = [claim for claim in claims if len(units(claim, gold.language)) >= shortest]
    rng.shuffle(claims)
    return claims


def _elsewhere(gold: Sample, bearing: Sequence[int], rng: Random) -> list[int]:
    """As many parts that the answer does not need: not the first, nor one that leads up to what bears it."""
    document = gold.document_text
    parts = parts_of(document)
    free = [
        number
        for number in range(1, len(parts))
        if number not in bearing
        and number + 1 not in bearing
        and not _needs(gold, document[parts[number].start : parts[number].end])
    ]
    rng.shuffle(free)
    size = sum(parts[number].end - parts[number].start for number in bearing) / len(bearing)
    free.sort(key=lambda number: abs(parts[number].end - parts[number].start - size) > size / 2)
    return sorted(free[: len(bearing)])


def _needs(gold: Sample, part: str) -> bool:
    """May the answer, or one of its claims, rest on a part of the document? Shared words or a fact tell."""
    language = gold.language
    said, held = words_of(gold.answer, language), words_of(part, language)
    shared = len(said & held)
    if shared > UNTOUCHED * min(len(said), len(held)):
        return True
    return any(occurs(fact.text, gold.answer) for fact in find_facts(part, language))
