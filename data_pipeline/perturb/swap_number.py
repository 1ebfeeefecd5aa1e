"""The edit type ``number``: another number of the document, or one near to the true one."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.perturb.edit import Edit, Option, digits_of, first_clean, fits, occurs
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import answer_facts, document_facts
from data_pipeline.perturb.numbers import NUMBER_WORDS, ORDINAL_WORDS
from judge.types import Language

_SPREAD = 1.7
"""A near number is at most so many times larger or smaller."""


def number(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another number of the document of the same form, best with the same unit; else a near one."""
    options: list[Option] = []
    for fact in _swappable(answer, document, question, language):
        options += _from_document(fact, answer, document, question, language)
        options += _foreign(fact, answer, document, question, rng)
    return first_clean("number", answer, document, language, rng, options)


def foreign_number(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """A near number that the document does not hold."""
    options: list[Option] = []
    for fact in _swappable(answer, document, question, language):
        options += _foreign(fact, answer, document, question, rng)
    return first_clean("number", answer, document, language, rng, options)


def _swappable(answer: str, document: str, question: str, language: Language) -> list[Fact]:
    """The numbers of an answer; an English 1 stays, since its noun is in the singular."""
    facts = answer_facts("number", answer, document, question, language)
    return [fact for fact in facts if language != "en" or digits_of(fact.text).lstrip("0") != "1"]


def _asked(fact: Fact, question: str) -> float:
    """Facts that the question names are exchanged last."""
    return 1.5 if occurs(fact.text, question) else 0.0


def _from_document(
    fact: Fact, answer: str, document: str, question: str, language: Language
) -> Iterator[Option]:
    for other in document_facts("number", answer, document, language):
        if other.form != fact.form or not fits(fact.text, other.text, answer, question, document):
            continue
        gap = abs(len(digits_of(fact.text)) - len(digits_of(other.text)))
        same = fact.unit != "" and other.unit == fact.unit
        if not _plausible(fact, other, same) or _overflows(answer, fact, other.text):
            continue
        if language != "en" or digits_of(other.text) != "1":
            yield _asked(fact, question) + (0 if same else 1 + gap), fact, other.text


def _foreign(fact: Fact, answer: str, document: str, question: str, rng: Random) -> Iterator[Option]:
    for text in _near_number(fact, rng):
        if text.casefold() in document.casefold() or occurs(text, answer + question):
            continue
        if not _overflows(answer, fact, text):
            yield _asked(fact, question) + 8, fact, text


def _near_number(fact: Fact, rng: Random) -> Iterator[str]:
    """Numbers of the same shape as ``fact``: as many digits, the same trailing zeros, commas and decimals."""
    words: tuple[str, ...] = {
        "word": NUMBER_WORDS[:11],
        "ordinal-word": ORDINAL_WORDS[:6],
    }.get(fact.form, ())
    if words:
        text = fact.text.lower()
        at = words.index(text) if text in words else -1
        near = [word for word in words[max(0, at - 3) : at + 4] if word != text] if at >= 0 else []
        rng.shuffle(near)
        yield from near
        return
    if not fact.form.endswith("ord"):
        yield from near_digits(fact.text, rng)


def near_digits(number: str, rng: Random) -> Iterator[str]:
    """Numbers near to one written in digits: as many digits, the same trailing zeros, commas and decimals."""
    match = re.search(r"\d[\d,.]*\d|\d", number)
    if not match:
        return
    digits = digits_of(match.group())
    kept = len(digits) - len(digits.rstrip("0")) if "." not in match.group() else 0
    core = digits[: len(digits) - kept]
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


def _value(text: str) -> float:
    digits = re.sub(r"[^\d.]", "", text).strip(".")
    return float(digits) if re.fullmatch(r"\d+(?:\.\d+)?", digits) else 0.0


def _plausible(fact: Fact, other: Fact, same_unit: bool) -> bool:
    """Is the other number of a size that could stand here? Of another unit it must be much nearer."""
    one, two = _value(fact.text), _value(other.text)
    if not one or not two:
        return True
    ratio = max(one, two) / min(one, two)
    return ratio <= (20 if same_unit else 5)


def _overflows(answer: str, fact: Fact, text: str) -> bool:
    """Would the part be larger than the whole ("71 of the 52 votes")?"""
    part = re.search(r"(\d[\d,.]*) (?:out )?of (?:the |its |a total of )?$", answer[: fact.start])
    whole = re.match(r" (?:\w+ )?(?:out )?of (?:the |its |a total of )?(\d[\d,.]*)", answer[fact.end :])
    if part:
        return _value(text) <= _value(part[1])
    return bool(whole and _value(text) >= _value(whole[1]))
