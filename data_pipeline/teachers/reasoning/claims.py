"""What an answer claims, sentence by sentence, and the places of the document that decide each claim.

An answer has a finding for every claim or none at all. Wrong claims are looked up in their correct form.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from data_pipeline.edits.polarity import YES_OR_NO
from data_pipeline.teachers.reasoning.places import Places, covers, places_in
from data_pipeline.text.content import keys
from data_pipeline.text.refusals import refuses
from data_pipeline.text.sentences import places_of, whole_sentences
from judge.types import Label, Sample, Span, Task

_MARKER = re.compile(r"\s*(?:[*•–-]+|\(?\d{1,2}[.)、])(?=\s|[\u4e00-\u9fff])\s*")
_ALONE = re.compile(r"(?:sure|certainly|of course|absolutely|great|okay|当然|好的|\d{1,2}[.)、])\W*", re.I)
COVERED = 0.5
"""Share of a claim's content words that its quotes must hold."""


class Claim(NamedTuple):
    """One sentence of an answer, or a whole short answer, without its list marker."""

    text: str
    start: int
    end: int


class Error(NamedTuple):
    """A wrong span of an answer, and what the document says instead, if anything."""

    start: int
    end: int
    said: str
    there: str = ""
    refusal: bool = False


class Finding(NamedTuple):
    """What the document says about one claim; ``refusal``: the claim is that the document does not say."""

    claim: Claim
    quotes: list[str]
    errors: list[Error]
    refusal: bool


def claims_of(answer: str) -> list[Claim]:
    """The claims of an answer, in order. What says nothing alone ("Yes.", "1.") joins the next sentence."""
    found: list[Claim] = []
    start: int | None = None
    for span in whole_sentences(answer):
        begin = span.start if start is None else start
        text = answer[begin : span.end]
        bare = text[marker.end() :] if (marker := _MARKER.match(text)) else text
        start = begin if _says_nothing(bare) else None
        if start is None:
            found.append(Claim(bare, span.end - len(bare), span.end))
    if start is not None and found:  # if the last sentence says nothing, it joins the one before
        end = len(answer.rstrip())
        found[-1] = Claim(answer[found[-1].start : end], found[-1].start, end)
    return found or [Claim(answer.strip(), len(answer) - len(answer.lstrip()), len(answer.rstrip()))]


def _says_nothing(text: str) -> bool:
    opening = YES_OR_NO.match(text)
    return bool(_ALONE.fullmatch(text)) or not keys(text[opening.end() :] if opening else text)


def errors_of(sample: Sample) -> Iterator[Error]:
    """The errors of a sample's answer, according to its ``meta``.

    Uses ``errors`` (several edits with their places) if present, else the one edit that ``edit_type`` names,
    else the ``spans`` marked by people, given as objects or as plain texts. What is no list marks nothing.
    """
    meta = sample.meta
    found = meta.get("errors") or ([meta] if meta.get("edit_type") else meta.get("spans"))
    for edit in found if isinstance(found, list | tuple) else ():
        edit = edit if isinstance(edit, Mapping) else {"text": edit}
        start, end, there = edit.get("start"), edit.get("end"), str(edit.get("replaced") or "")
        marked = sample.answer[start:end] if isinstance(start, int) and isinstance(end, int) else ""
        said = str(edit.get("inserted") or edit.get("text") or marked)
        if edit.get("edit_type") == "added_sentence" or not keys(said):
            there = ""
        refusal = refuses(said, sample.language)
        if said and isinstance(start, int) and sample.answer.startswith(said, start):
            places = [Span(start, start + len(said))]
        else:  # a fact changed throughout the document is wrong at every mention
            places = list(places_of(said, sample.answer))
            places = places if edit.get("edit_type") == "document_swap" else places[:1]
        for place in places:
            yield Error(place.start, place.end, said, there if keys(there) else "", refusal)


def wrong_in(claim: Claim, errors: Sequence[Error]) -> list[Error]:
    """The errors of a claim, each cut to its part in it; one without content words covers the whole claim."""
    found = []
    for error in errors:
        low, high = max(error.start, claim.start), min(error.end, claim.end)
        said = claim.text[max(low - claim.start, 0) : max(high - claim.start, 0)]
        if low < high and (keys(said) or not keys(error.said)):
            found.append(error._replace(start=low, end=high, said=said if keys(said) else claim.text))
    return found


def findings(sample: Sample) -> list[Finding]:
    """The findings about a labelled answer; empty if any of its claims cannot be decided by quoting."""
    errors = list(errors_of(sample)) if sample.label is Label.FAIL else []
    places, claims = places_in(sample.document_text), claims_of(sample.answer)
    injected = sample.meta.get("injection_place") == "answer"
    found: list[Finding] = []
    for number, claim in enumerate(claims):
        wrong = wrong_in(claim, errors)
        if not wrong and len(claims) > 1 and claim.text.endswith((":", "：", "?", "？")):
            continue  # it only introduces the others
        refusal = wrong[0].refusal if wrong else refuses(claim.text, sample.language)
        if sample.task is not Task.TRANSLATION or "injection" in sample.meta:
            quotes = _quotes(sample, claim, wrong, refusal, places)
        elif len(claims) == len(places.sentences):  # the sentence with the same number is the original
            share = (wrong[0].start - claim.start) / len(claim.text) if wrong else 0.0
            quotes = [places.quote_in(number, share)]
        else:
            return []
        if quotes:
            found.append(Finding(claim, quotes, wrong, refusal))
        elif wrong or not injected:  # the document says nothing of an injected instruction
            return []
    return found if (sample.label is Label.FAIL) == any(finding.errors for finding in found) else []


def _quotes(sample: Sample, claim: Claim, wrong: Sequence[Error], refusal: bool, places: Places) -> list[str]:
    """The quotes that decide a claim; empty if there are none."""
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
    if len(musts) < len(wrong):  # the document says nothing of it: quote its beginning to show its topic
        return quotes or places.quotes(topic)[:1] or [places.quote_in(0)]
    injected = sample.meta.get("injection_place") == "answer"  # the attack may have lengthened the claim
    return quotes if injected or covers(wanted, quotes, COVERED) else []
