"""Findings: for each claim of an answer the places of the document that decide about it, and what they say.

An answer has a finding for every claim, or none at all; wrong claims are looked up as the document has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from data_pipeline.teachers.reasoning.claims import (
    Claim,
    Error,
    claims_of,
    errors_of,
    refuses,
    restored,
    wrong_in,
)
from data_pipeline.teachers.reasoning.places import COVERED, Places, Quote, cover, places_in
from data_pipeline.text.content import is_number, keys
from judge.types import Label, Sample, Task


@dataclass(frozen=True, slots=True)
class Finding:
    """What the document says about one claim.

    Attributes:
        claim: the claim.
        quotes: what decides about it, as far as it can be quoted.
        errors: what is wrong in it; empty where the document supports it.
        refusal: the claim says that the document does not tell something.
    """

    claim: Claim
    quotes: tuple[str, ...]
    errors: tuple[Error, ...] = ()
    refusal: bool = False


def findings(sample: Sample) -> list[Finding]:
    """The findings about a labelled answer; empty where one of its claims cannot be decided by quoting."""
    errors = errors_of(sample) if sample.label is Label.FAIL else []
    places, claims = places_in(sample.document_text), claims_of(sample.answer)
    injected = sample.meta.get("injection_place") == "answer"
    found: list[Finding] = []
    for number, claim in enumerate(claims):
        wrong = wrong_in(claim, errors)
        if not wrong and len(claims) > 1 and claim.text.endswith((":", "：", "?", "？")):
            continue  # it only leads up to the others
        if sample.task is Task.TRANSLATION and "injection" not in sample.meta:
            same = len(claims) == len(places.sentences)  # the sentence with the same number is the original
            share = (wrong[0].start - claim.start) / len(claim.text) if wrong else 0.0
            quotes = [places.quote_in(number, share)] if same else []
        else:
            quotes = _quotes(sample, claim, wrong, places)
        if quotes:
            refusal = wrong[0].kind == "answered" if wrong else refuses(claim.text, sample.language)
            found.append(Finding(claim, tuple(quote.text for quote in quotes), tuple(wrong), refusal))
        elif wrong or not injected:  # of an instruction that was put in there is nothing to be found
            return []
    return found if (sample.label is Label.FAIL) == any(finding.errors for finding in found) else []


def _quotes(sample: Sample, claim: Claim, wrong: Sequence[Error], places: Places) -> list[Quote]:
    """What decides about a claim; nothing where that cannot be quoted."""
    topic, wanted = keys(sample.question), keys(restored(claim, wrong))
    musts = [error.there.strip(" .。") for error in wrong if keys(error.there)]
    if wrong and wrong[0].kind == "answered":
        return places.quotes(keys(wrong[0].there), topic, musts)[:1]
    if not wrong and refuses(claim.text, sample.language):
        return places.quotes(topic if topic and sample.answer.strip() == claim.text else wanted, topic)[:1]
    quotes = places.quotes(wanted, topic, musts)
    if any(error.kind == "absent" for error in wrong):  # how it begins tells what it speaks of instead
        return quotes or places.quotes(topic)[:1] or [places.quote_in(0)]
    numbers = frozenset(filter(is_number, wanted))
    decided = cover(wanted, quotes) >= COVERED and cover(numbers, quotes) == 1
    injected = sample.meta.get("injection_place") == "answer"  # the claim may be longer than it was
    return quotes if injected or decided else []
