"""The edit type ``number`` in English: another number of the document, or one near to the true one."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from random import Random

from data_pipeline.edits.distractors import may_also_hold
from data_pipeline.edits.edit import Option, digits_of, first_clean, fits, occurs
from data_pipeline.edits.swap import FactSwap, asked
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import answer_facts, document_facts
from data_pipeline.text.number_facts import find_numbers, is_label
from data_pipeline.text.numbers import ORDINAL_WORDS, SMALL_WORDS, value_of

_SPREAD = 1.7
"""A near number is at most this many times larger or smaller."""
_SAME_UNIT, _NO_UNIT = 4.0, 3.0
"""A number of the document is at most this many times larger or smaller: with the same unit, without one."""
_OLDEST = 105
_LOOSE = re.compile(
    r"\b(?:about|around|approximately|roughly|nearly|almost|some|circa|an estimated)(?: \S+)? $|[~≈∼] ?$",
    re.I,
)
_AT_LEAST = re.compile(
    r"\b(?:at least|more than|over|above|exceed\w*|greater than|minimum of|older than)(?: \S+)? $|[>≥] ?$",
    re.I,
)
_AT_MOST = re.compile(
    r"\b(?:at most|less than|fewer than|under|below|up to|within|maximum of|younger than)(?: \S+)? $|[<≤] ?$",
    re.I,
)


def _swappable(answer: str, document: str, question: str) -> list[Fact]:
    """The numbers of an answer that may change; not a 1, since its noun is singular."""
    facts = answer_facts("number", answer, document, question, "en")
    values = [value_of(fact.text) for fact in facts]
    return [
        fact
        for fact, value in zip(facts, values, strict=True)
        if digits_of(fact.text).lstrip("0") != "1"
        and not is_label(fact, answer)
        and values.count(value) == 1
        and not _adds_up(value, values)
    ]


def _adds_up(value: float, values: list[float]) -> bool:
    """Is a number the sum of two others of the text, or part of such a sum? Changing it alone would show."""
    return any(
        one + two == whole and value in (one, two, whole)
        for whole in values
        for one, two in combinations([other for other in values if 0 < other < whole], 2)
    )


def _from_document(fact: Fact, answer: str, document: str, question: str) -> Iterator[Option]:
    for other in document_facts("number", answer, document, "en"):
        if other.form != fact.form or not fits(fact.text, other.text, answer, question, document):
            continue
        gap = abs(len(digits_of(fact.text)) - len(digits_of(other.text)))
        same = fact.unit != "" and other.unit == fact.unit
        if (
            fact.unit != other.unit
            or digits_of(other.text) == "1"
            or not _near_enough(fact, other.text, _SAME_UNIT if same else _NO_UNIT)
            or is_label(other, document)
            or not _fits_around(fact, other.text, answer, document)
            or _overflows(answer, fact, other.text)
            or may_also_hold(fact, other.text, answer, question, document)
        ):
            continue
        yield asked(fact, question) + (0 if same else 1 + gap), fact, other.text


def _foreign(fact: Fact, answer: str, document: str, question: str, rng: Random) -> Iterator[Option]:
    for text in _near_number(fact, rng):
        if text.casefold() in _folded(document) or occurs(text, answer + question):
            continue
        if not _overflows(answer, fact, text) and _fits_around(fact, text, answer, document):
            yield asked(fact, question) + 8, fact, text


@lru_cache(maxsize=16)
def _folded(document: str) -> str:
    """Cached, since every number tried is looked for in it."""
    return document.casefold()


def _near_number(fact: Fact, rng: Random) -> Iterator[str]:
    """Numbers of the same shape as ``fact``: as many digits, the same trailing zeros, commas and decimals."""
    words = {"word": SMALL_WORDS, "ordinal-word": ORDINAL_WORDS[:6]}.get(fact.form, ())
    text = fact.text.lower()
    if text in words:
        at = words.index(text)
        near = [word for word in words[max(0, at - 3) : at + 4] if word != text]
        rng.shuffle(near)
        yield from near
    elif not fact.form.endswith("ord"):
        yield from near_digits(fact.text, rng)


def near_digits(number: str, rng: Random) -> Iterator[str]:
    """Numbers near to one written in digits: as many digits, the same trailing zeros, commas and decimals."""
    match = re.search(r"\d[\d,.]*\d|\d", number)
    if not match:
        return
    digits = digits_of(match.group())
    kept = len(digits) - len(digits.rstrip("0"))
    core = digits[: len(digits) - kept].lstrip("0")
    if not core:
        return
    low, high = 10 ** (len(core) - 1), 10 ** len(core) - 1
    low = 2 if low == 1 else low
    value = int(core)
    for _ in range(12):
        # Even on a logarithmic scale, as the leading digits of numbers are (Benford): no digit tells.
        new = round(value * _SPREAD ** rng.uniform(-1, 1)) + rng.choice((-1, 0, 1))
        if not low <= new <= high:
            continue
        fresh = iter((str(new) + "0" * kept).rjust(len(digits), "0"))
        if new != value and (new % 10 or core.endswith("0")):
            shaped = "".join(next(fresh, "") if char.isdigit() else char for char in match.group())
            yield number[: match.start()] + shaped + number[match.end() :]


def _near_enough(fact: Fact, text: str, most: float) -> bool:
    """Is the other number close enough in size?"""
    one, two = value_of(fact.text), value_of(text)
    return not one or not two or max(one, two) / min(one, two) <= most


def say_the_same(old: float, new: float, loose: bool) -> bool:
    """Are two numbers close enough to mean the same? ``loose``: after "about", a quarter off still is."""
    return abs(new - old) < (0.25 if loose else 0.08) * old


def _fits_around(fact: Fact, text: str, answer: str, document: str) -> bool:
    """Does an English number contradict the old one, and is it possible, given the words around it?

    "More than 300" is still true of what is more than 380; "about 390" of 400; no share is over 100 %. Bounds
    that the document does not state are left alone, since another bound may be true as well.
    """
    old, new = value_of(fact.text), value_of(text)
    if not old or not new:
        return True
    before, after = answer[: fact.start], answer[fact.end :]
    if any((other > old) != (other > new) for other in _neighbours(fact, answer)):
        return False  # "from 20 to 30", "more than the 29 of last year"
    low = _AT_LEAST.search(before) or re.match(r"\+| (?:or|and) (?:more|over|older|above)\b", after)
    high = _AT_MOST.search(before) or re.match(r" (?:or|and) (?:less|fewer|under|younger|below)\b", after)
    if (low and new < old) or (high and new > old) or ((low or high) and not occurs(fact.text, document)):
        return False
    if say_the_same(old, new, loose=_LOOSE.search(before) is not None):
        return False
    percent = fact.text.endswith("%") or re.match(r" ?(?:%|per ?cent)", after)
    if percent and old <= 100 < new:
        return False
    if re.match(r" (?:minutes|seconds)\b", after) and re.search(r"\b(?:hours?|minutes?)(?: and)? $", before):
        return new < 60
    aged = re.search(r"\baged? (?:of )?$", before) or re.match(r"[ -]years?[ -](?:old|of age)", after)
    return not (aged and new > _OLDEST)


@lru_cache(maxsize=256)
def _neighbours(fact: Fact, answer: str) -> tuple[float, ...]:
    """The other English numbers of a fact's form in its sentence. Cached, since many swaps are tried."""
    before, after = answer[: fact.start], answer[fact.end :]
    around = re.split(r"[.!?]\s", before)[-1] + " " + re.split(r"[.!?]\s", after)[0]
    form = fact.form.replace("dec", "int")  # "from 20 % to 20.1 %"
    found = (other for other in find_numbers(around, "en") if other.form.replace("dec", "int") == form)
    return tuple(value_of(other.text) for other in found)


def _overflows(answer: str, fact: Fact, text: str) -> bool:
    """Would the part be larger than the whole ("71 of the 52 votes")?"""
    part = re.search(r"(\d[\d,.]*) (?:out )?of (?:the |its |a total of )?$", answer[: fact.start])
    whole = re.match(r" (?:\w+ )?(?:out )?of (?:the |its |a total of )?(\d[\d,.]*)", answer[fact.end :])
    if part:
        return value_of(text) <= value_of(part[1])
    return bool(whole and value_of(text) >= value_of(whole[1]))


NUMBER = FactSwap("number", _swappable, _from_document, _foreign, first_clean)
