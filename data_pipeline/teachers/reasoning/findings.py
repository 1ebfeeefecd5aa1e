"""Findings: for each claim of an answer the places of the document that decide about it, and what they say.

A faithful answer has a finding for every claim, or none at all; so has an unfaithful one, whose wrong claims
are looked up as the document has them. What cannot be quoted is not reasoned about.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from data_pipeline.edits.edit import occurs
from data_pipeline.teachers.reasoning.claims import (
    Claim,
    Error,
    around,
    claims_of,
    errors_of,
    opens_a_list,
    refuses,
    restored,
    wrong_in,
)
from data_pipeline.teachers.reasoning.places import MAX_QUOTE, Places, Quote, decide, places_in
from data_pipeline.text.content import keys
from judge.types import Label, Sample, Span, Task


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
    if sample.label is Label.FAIL and not errors:
        return []
    injected = sample.meta.get("injection_place") == "answer"
    places = places_in(sample.document_text)
    translated = sample.task is Task.TRANSLATION and "injection" not in sample.meta
    found: list[Finding] = []
    claims = claims_of(sample.answer)
    for number, claim in enumerate(claims):
        wrong = wrong_in(claim, errors)
        if not wrong and len(claims) > 1 and opens_a_list(claim):
            continue
        if translated:
            finding = _translated(claim, wrong, places, number, len(claims))
        else:
            finding = _finding(sample, claim, wrong, places)
        if finding is not None:
            found.append(finding)
        elif wrong or not injected:  # of an instruction that was put in there is nothing to be found
            return []
    return found if bool(errors) == any(finding.errors for finding in found) else []


def _finding(sample: Sample, claim: Claim, wrong: list[Error], places: Places) -> Finding | None:
    topic = keys(sample.question)
    refusal = refuses(claim.text, sample.language)
    if wrong:
        if wrong[0].kind == "answered":
            return _answered(claim, wrong, places, topic)
    elif refusal:
        alone = sample.answer.strip() == claim.text and topic
        quotes = places.quotes(topic if alone else keys(claim.text), topic)[:1]
        return Finding(claim, _texts(quotes), refusal=True) if quotes else None
    text = restored(claim, wrong)
    musts = _whole(text) + [
        part
        for error in wrong
        if error.kind in ("differs", "against")
        for part in around(claim, error, error.there)
    ]
    wanted = keys(text)
    quotes = places.quotes(wanted, topic, musts)
    missing = any(error.kind == "absent" for error in wrong)
    if missing and not quotes:  # how the document begins tells what it speaks of instead
        quotes = places.quotes(topic)[:1] or [places.quote_of(places.parts[0])]
    if not quotes:
        return None
    if missing:
        return Finding(claim, _texts(quotes), tuple(wrong))
    there = [error.there for error in wrong if error.there]
    for text in there[1:]:  # several errors of one sentence
        if not any(occurs(text, quote.text) for quote in quotes):
            quotes += places.quotes(keys(text), wanted | topic, [text])[:1]
    injected = sample.meta.get("injection_place") == "answer"  # the claim may be longer than it was
    return Finding(claim, _texts(quotes), tuple(wrong)) if injected or decide(wanted, quotes) else None


def _whole(text: str) -> list[str]:
    """A claim as a span to be looked for as it is, where it can be quoted at once."""
    bare = text.strip(" .。!！\"“”'")
    return [bare] if len(bare) <= MAX_QUOTE else []


def _answered(claim: Claim, wrong: list[Error], places: Places, topic: frozenset[str]) -> Finding | None:
    """The document answers what is said to be without an answer."""
    there = wrong[0].there
    quotes = places.quotes(keys(there) or topic, topic, [there.strip(" .。")] if there else [])[:1]
    return Finding(claim, _texts(quotes), tuple(wrong), refusal=True) if quotes and there else None


def _translated(claim: Claim, wrong: list[Error], places: Places, number: int, claims: int) -> Finding | None:
    """Of a translation the sentence with the same number, where original and translation have as many."""
    if claims != len(places.parts):
        return None
    part = places.parts[number]
    shown = [error.there for error in wrong if error.there] + [claim.text]
    for text in shown:
        inside = [quote for quote in places.quotes(keys(text)) if quote.of(part)]
        if inside:
            return Finding(claim, (inside[0].text,), tuple(wrong))
    middle = part.start + (part.end - part.start) // 2
    place = Span(middle, middle + 1) if not wrong else _same_place(claim, wrong[0], part)
    return Finding(claim, (places.quote_of(place).text,), tuple(wrong))


def _same_place(claim: Claim, error: Error, part: Span) -> Span:
    """The place in a sentence that lies as far in it as an error lies in its translation."""
    share = (error.start - claim.start) / max(len(claim.text), 1)
    start = min(part.start + int(share * (part.end - part.start)), part.end - 1)
    return Span(start, start + 1)


def _texts(quotes: Sequence[Quote]) -> tuple[str, ...]:
    return tuple(quote.text for quote in quotes)
