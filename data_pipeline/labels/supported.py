"""Checks that documents support gold answers; trims unsupported sentences off, or drops the gold.

Gold answers of public sets contain recommendations that no sentence supports (PubMedQA), headlines of another
page (LawBench), computed numbers (FinanceBench) and names from annotators' memory. A judge trained to pass
them learns to overlook errors. The rules find only the clearest cases: a number, a name, a recommendation, or
nearly all words of a sentence that are nowhere in the document. For translations only numbers are compared.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise, tee

from data_pipeline.edits.edit import occurs
from data_pipeline.edits.verify import Rejected
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.workers import Workers
from data_pipeline.teachers.reasoning.claims import claims_of
from data_pipeline.teachers.reasoning.places import places_in
from data_pipeline.text.content import CJK, keys
from data_pipeline.text.facts import find_entities, is_translation
from data_pipeline.text.names_en import GENERIC
from data_pipeline.text.numbers import Number, numbers, values
from data_pipeline.text.refusals import refuses
from data_pipeline.text.sentences import places_of
from judge.types import Label, Sample, Task

UNKNOWN = 0.25
"""A sentence is not supported if at most this share of its words is anywhere in the document ..."""
FEWEST_WORDS = 6
"""... and it has this many (pairs of characters in Chinese)."""
CARRIED = 0.8
"""Share of the words of a recommendation that quotes must hold if the document lacks its wording."""
ALIKE = 0.75
"""How similar (difflib's ratio) a word must be to part of a name to count as a misspelling of it."""
LEFT = 4
"""Content words that a trimmed answer must still have."""
NEAR = Decimal("0.15")
"""Relative deviation allowed between an approximate number ("about") and one in the document."""

SMALL = 12
"""Numbers up to this may come from counting, and are not looked up."""

_ROUND = frozenset(map(Decimal, (100, 1000, 10**4, 10**6, 10**8, 10**9)))
"""Written in words, these only mean "many"."""
_TABLE_SCALES = tuple(map(Decimal, (1, 100, 1000, 10**4, 10**6, 10**8, 10**9)))
"""Numbers are also compared at these scales: tables may give them in thousands, millions and the like."""
_ABOUT = re.compile(
    r"(?:\b(?:about|around|over|nearly|almost|approximately|roughly|some|more than|less than|under|up to"
    r"|at least|fewer than|above|below)\s*[$€£¥]?|[~≈<>]|超过|超|近|约|逾|不到|至少|将近|大约|达)\s?$",
    re.I,
)
_ABOUT_BEHIND = re.compile(r"\s?(?:余|多|左右|以上|以下|\+)")
_CODE = re.compile(r"[A-Za-z][-–.]?$|\d[:：]$|\d[万亿千]$")
"""Text before a number that is part of a name or code, a time, or a longer number."""
_ADVICE = re.compile(
    r"\b(?:should|ought to|needs? to be|must be|warrant(?:s|ed)?\b|we (?:\w+ )?recommend"
    r"|(?:is|are|be|remains?) (?:\w+ )?(?:needed|required|recommended|advised|advisable|encouraged)"
    r"|(?:further|future|more|additional|larger) (?:\w+ )?(?:stud|research|investigat|work|trial|evaluat))",
    re.I,
)
_REPORTS = re.compile(
    r"(?:发布|报道|发文|刊发|转载|刊登|首发|文章|消息)[^：:]{0,12}《"
    r"|《[^》]*》[^：:]{0,8}[：:]"
)
"""A headline of another page, as LawBench puts it before a summary."""
_DEPENDS = re.compile(
    r"(?:this|these|that|those|it|they|he|she|such|however|therefore|thus|hence)\b|[此该这其他她它]", re.I
)
_HEAD = re.compile(r"(?:《[^》]*》|[^。！？!?\n：:《]){4,150}[：:]\s*(?=\S)")
"""The lead of a Chinese summary: who reported it, when, and under which headline."""
_SHORT = re.compile(r"(?:[A-Z]\.?){1,4}s?|.{0,3}")
_NAMED = ("person", "place", "organisation")
"""Kinds of names that are looked up: not demonyms (they stand for a country) or other capitalised words."""


def supported(gold: Sample) -> Sample | Rejected:
    """The gold sample, if its document supports its answer as far as rules can tell.

    Unsupported sentences are trimmed off if the first sentence is supported and at least half of them stay;
    so is an unsupported lead of a Chinese summary.

    Returns:
        The sample, perhaps with a shorter answer; or why it is dropped: ``number``, ``name``,
        ``recommendation`` or ``words``, with the text at fault.
    """
    if any(places_of(gold.answer.strip(), gold.document_text)):
        return gold
    claims = claims_of(gold.answer)
    reasons = [_unsupported(claim.text, gold) for claim in claims]
    head = _HEAD.match(gold.answer) if gold.language == "zh" else None
    if head and _REPORTS.search(head[0]) and not reasons[0]:
        source = keys(re.sub(r"《[^》]*》", "", head[0]))
        if len(source & places_in(gold.document_text).keys) <= len(source) / 2:
            reasons[0] = Rejected("words", head[0])
    if not any(reasons):
        return gold
    if head and reasons[0]:
        tail = gold.answer[head.end() :].strip()
        return supported(replace(gold, answer=tail)) if len(keys(tail)) >= LEFT else reasons[0]
    first = next(reason for reason in reasons if reason)
    kept = [claim for claim, reason in zip(claims, reasons, strict=True) if not reason]
    left = keys(" ".join(claim.text for claim in kept))
    marks = any(gold.answer[one.end : two.start].strip() for one, two in pairwise(claims))  # as in a list
    if reasons[0] or 2 * len(kept) < len(claims) or len(left) < LEFT or marks:
        return first
    for claim, gone in zip(claims[1:], reasons, strict=False):
        if gone and claim in kept and _DEPENDS.match(claim.text):  # it refers to a trimmed sentence
            return first
    joint = "" if CJK.search(gold.answer) else " "
    return replace(gold, answer=joint.join(claim.text for claim in kept))


def only_supported(
    golds: Iterable[Sample], dropped: Dropped, trimmed: Dropped, workers: Workers
) -> Iterator[Sample]:
    """The supported golds, trimmed if needed; notes which ones were dropped and which were trimmed.

    Samples labelled ``FAIL`` are not gold answers and pass unchecked.
    """
    golds, copies = tee(golds)
    for gold, found in zip(golds, workers.map(_unless_labelled, copies), strict=True):
        if isinstance(found, Rejected):
            dropped.add(f"gold answer not supported: {found.reason}", gold.id)
            continue
        if found.answer != gold.answer:
            trimmed.add(gold.source, gold.id)
        yield found


def _unless_labelled(gold: Sample) -> Sample | Rejected:
    return gold if gold.label is Label.FAIL else supported(gold)


def _unsupported(claim: str, gold: Sample) -> Rejected | None:
    """Why a document does not support a claim; ``None`` if no rule objects."""
    document = gold.document_text
    known = f"{document}\n{gold.question}"
    held = values(document) | values(gold.question)
    for number in numbers(claim):
        if not _number_stands(number, claim, known, held):
            return Rejected("number", claim[number.start : number.end])
    if is_translation(claim, document) or refuses(claim, gold.language):
        return None
    for name in find_entities(claim, gold.language):
        if (
            name.form.startswith(_NAMED)
            and not _SHORT.fullmatch(name.text)
            and not _name_stands(name.text, known)
        ):
            return Rejected("name", name.text)
    wanted = keys(claim)
    there = places_in(document).keys | keys(gold.question)
    counted = any(number.value > SMALL for number in numbers(claim))
    if len(wanted) >= FEWEST_WORDS and not counted and len(wanted & there) <= UNKNOWN * len(wanted):
        return Rejected("words", claim)
    if gold.task is Task.QA and gold.language == "en" and (advice := _ADVICE.search(claim)):
        carried = _ADVICE.search(document) and occurs(advice[0], document)
        quotes = places_in(document).quotes(wanted, enough=CARRIED)
        if not carried and len(wanted & keys("\n".join(quotes))) < CARRIED * len(wanted):
            return Rejected("recommendation", advice[0])
    return None


def _number_stands(number: Number, claim: str, known: str, held: frozenset[Decimal]) -> bool:
    """Is a number of a claim in the known text: literally, in another form, rounded, or approximately?

    Small numbers may come from counting, so they pass; so do numbers in codes and names (COVID-19).
    """
    text, before, behind = claim[number.start : number.end], claim[: number.start], claim[number.end :]
    if number.value <= SMALL and "." not in number.digits:
        return True
    if not number.digits and (number.value <= 20 or not _TELLING.search(text) or number.value in _ROUND):
        return True
    if _CODE.search(before) or re.match(r"[A-Za-z]|世纪|年代", behind) or occurs(text, known):
        return True
    if number.digits and number.digits.replace(".", "") in _joined(known):
        return True
    places = len(number.digits.partition(".")[2].rstrip("0"))
    half = Decimal(5).scaleb(-places - 1)  # of the last place, as far as rounding moves a number
    for value in {number.value, number.bare}:
        for scale in _TABLE_SCALES:
            if value * scale in held or value / scale in held:
                return True
        if any(abs(other - value) <= half for other in held):
            return True
        if value >= 100 and not places and any(abs(other / 1000 - value) < 1 for other in held):
            return True  # in thousands in the claim, with the last digits cut off
    if _ABOUT.search(before) or _ABOUT_BEHIND.match(behind):
        return any(abs(value - number.value) <= NEAR * value for value in held)
    return False


_TELLING = re.compile(r"[a-z]{4}|(?=.*[十百千万亿]).{2}", re.I)


@lru_cache(maxsize=16)
def _joined(text: str) -> frozenset[str]:
    """The digit groups of a text, joined across separators (9/11, 2,06,737)."""
    return frozenset(re.sub(r"\D", "", run) for run in re.findall(r"\d+(?:[/.,\-]\d+)+", text))


def _name_stands(name: str, known: str) -> bool:
    """Is any part of a name in the known text: by its first letters, initials, or with a misspelling?"""
    if CJK.search(name):
        return any(one + two in known for one, two in pairwise(name))
    words = _plain_words(known)
    parts = [part for part in re.findall(r"[a-z]{3,}", _plain(name)) if part not in GENERIC]
    starts = {word[:4] for word in words}
    if not parts or any(part[:4] in starts for part in parts):
        return True
    initials = "".join(word[0] for word in re.findall(r"[A-Z]\w*", name)).lower()
    return initials in words or any(get_close_matches(part, words, 1, ALIKE) for part in parts)


def _plain(text: str) -> str:
    """A text in lower case without accents."""
    parts = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text.replace("ı", "i"))).lower()
    return "".join(char for char in parts if not unicodedata.combining(char))


@lru_cache(maxsize=16)
def _plain_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", _plain(text)))
