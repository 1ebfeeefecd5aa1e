"""Findings: for each claim of an answer the places of the document that decide about it, and what they say.

An answer has a finding for every claim, or none at all; wrong claims are looked up as the document has them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from data_pipeline.teachers.reasoning.claims import Claim, Error, claims_of, errors_of, wrong_in
from data_pipeline.teachers.reasoning.places import Places, covers, places_in
from data_pipeline.text.content import keys
from data_pipeline.text.refusals import refuses
from judge.types import Label, Sample, Task

COVERED = 0.5
"""Share of a claim's content words that its quotes must hold."""


class Finding(NamedTuple):
    """What the document says about one claim; ``refusal``: the claim says that it does not tell something."""

    claim: Claim
    quotes: list[str]
    errors: list[Error]
    refusal: bool


def findings(sample: Sample) -> list[Finding]:
    """The findings about a labelled answer; empty where one of its claims cannot be decided by quoting."""
    errors = list(errors_of(sample)) if sample.label is Label.FAIL else []
    places, claims = places_in(sample.document_text), claims_of(sample.answer)
    injected = sample.meta.get("injection_place") == "answer"
    found: list[Finding] = []
    for number, claim in enumerate(claims):
        wrong = wrong_in(claim, errors)
        if not wrong and len(claims) > 1 and claim.text.endswith((":", "：", "?", "？")):
            continue  # it only leads up to the others
        refusal = refuses(wrong[0].said if wrong else claim.text, sample.language)
        if sample.task is not Task.TRANSLATION or "injection" in sample.meta:
            quotes = _quotes(sample, claim, wrong, refusal, places)
        elif len(claims) == len(places.sentences):  # the sentence with the same number is the original
            share = (wrong[0].start - claim.start) / len(claim.text) if wrong else 0.0
            quotes = [places.quote_in(number, share)]
        else:
            return []
        if quotes:
            found.append(Finding(claim, quotes, wrong, refusal))
        elif wrong or not injected:  # of an instruction that was put in there is nothing to be found
            return []
    return found if (sample.label is Label.FAIL) == any(finding.errors for finding in found) else []


def _quotes(sample: Sample, claim: Claim, wrong: Sequence[Error], refusal: bool, places: Places) -> list[str]:
    """What decides about a claim; nothing where that cannot be quoted."""
    topic, wanted = keys(sample.question), keys(claim.text)
    for error in wrong:
        if error.there:  # as the document has it
            wanted = wanted - keys(error.said) | keys(error.there)
    musts = [error.there.strip(" .。") for error in wrong if error.there]
    if refusal and wrong:
        return places.quotes(keys(wrong[0].there), topic, musts)[:1]
    if refusal:
        return places.quotes(topic if topic and sample.answer.strip() == claim.text else wanted, topic)[:1]
    quotes = places.quotes(wanted, topic, musts)
    if len(musts) < len(wrong):  # the document says none of it: how it begins tells what it speaks of
        return quotes or places.quotes(topic)[:1] or [places.quote_in(0)]
    injected = sample.meta.get("injection_place") == "answer"  # the claim may be longer than it was
    return quotes if injected or covers(wanted, quotes, COVERED) else []
