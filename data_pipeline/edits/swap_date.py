"""The edit type ``date`` in English: another date or time of the document, or one near to the true one."""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from random import Random

from data_pipeline.edits.distractors import may_also_hold
from data_pipeline.edits.edit import Option, bare, digits_of, first_clean, fits, occurs
from data_pipeline.edits.swap import FactSwap, asked
from data_pipeline.text.dates import MONTHS, WEEKDAYS
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import answer_facts, document_facts, is_translation

FURTHEST = 15
"""Most years between the true and the wrong year: larger errors show without the document."""
FURTHEST_IN_DOCUMENT = 30
"""The same for a wrong year taken from the document."""
LATEST = 2026
"""No wrong year is later than this, unless the true one is."""
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_CLOCK = re.compile(r"(?<![\d:])\d{1,2}:\d\d(?![\d:])")
_AHEAD = re.compile(
    r"\b(?:will|expects?|expected|scheduled|planned|forecasts?|due to|lasts? until|runs? out)\b"
)
_MONTHS = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_AFTER = re.compile(r"\b(?:after|later than|no earlier than)(?: the)? $", re.I)
_BEFORE = re.compile(r"\b(?:before|by|prior to|earlier than|no later than)(?: the)? $", re.I)
_LATER = re.compile(r"\b(?:years?|months?|days?) (?:later|earlier|after|before)\b")
_DAY = re.compile(r"\d+(?:st|nd|rd|th)?")
_COMMON_YEAR = 2023


def _swappable(answer: str, document: str, question: str) -> Iterable[Fact]:
    return answer_facts("date", answer, document, question, "en")


def _from_document(fact: Fact, answer: str, document: str, question: str) -> Iterator[Option]:
    translated = is_translation(answer, document)
    for other in document_facts("date", answer, document, "en"):
        text = other.text
        if other.form != fact.form or (translated and fact.form != "year"):
            continue  # the document of a translation writes its months and weekdays in another language
        if fact.form == "year":  # written as the answer writes it
            text = fact.text.replace(digits_of(fact.text), digits_of(text))
        if not fits(fact.text, text, answer, question, document):
            continue
        if not _plausible(fact, text, f"{answer}\n{question}", FURTHEST_IN_DOCUMENT):
            continue
        if not _contradicts(fact, text, answer, document):
            continue
        if not translated and may_also_hold(fact, text, answer, question, document):
            continue
        if translated and fact.form == "year" and text not in document:
            text = digits_of(text) + fact.text[4:]
        yield asked(fact, question), fact, text


def _foreign(fact: Fact, answer: str, document: str, question: str, rng: Random) -> Iterator[Option]:
    for text in _near_date(fact, rng):
        if text in document or occurs(text, answer + question) or bare(text) == bare(fact.text):
            continue
        plausible = _plausible(fact, text, f"{answer}\n{question}", FURTHEST)
        if plausible and _contradicts(fact, text, answer, document):
            yield asked(fact, question) + 8, fact, text


def _plausible(fact: Fact, text: str, context: str, furthest: int) -> bool:
    """Is another date near enough, and on the same side of every other date mentioned?"""
    if fact.form == "clock":
        others = {_minutes(clock) for clock in _CLOCK.findall(context)}
        return _same_side(_minutes(fact.text), _minutes(text), others)
    if fact.form in ("day-month", "month-day", "month") and len(_MONTHS.findall(context)) > 1:
        return False  # "from 3 May to 8 June": the order of the days would give the edit away
    if _LATER.search(context):
        return False  # "six years later, in 1909"
    if fact.form not in ("year", "decade") or len(digits_of(fact.text)) < 4:
        return True
    old, new = int(digits_of(fact.text)), int(digits_of(text))
    furthest = max(furthest, (LATEST - old) // 10)  # the distant past is less well known
    if abs(old - new) > furthest + 15 * (fact.form == "decade") or new > max(LATEST, old):
        return False
    if _AHEAD.search(context) and new < old:
        return False
    return _same_side(old, new, {int(year) for year in _YEAR.findall(context)})


def _contradicts(fact: Fact, text: str, answer: str, document: str) -> bool:
    """Is a statement with the other date wrong? "After 1983" is still true of what came after 1990.

    After such words, only years that stand in the document can be judged; other dates count as not wrong.
    """
    before = answer[: fact.start]
    after, by = _AFTER.search(before), _BEFORE.search(before)
    if not after and not by:
        return True
    if fact.form != "year" or not occurs(fact.text, document):
        return False
    old, new = int(digits_of(fact.text)), int(digits_of(text))
    return new > old if after else new < old


def _same_side(old: int, new: int, others: set[int]) -> bool:
    return all((other > old) == (other > new) and other != new for other in others - {old})


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return 60 * int(hours) + int(minutes)


def _near_date(fact: Fact, rng: Random) -> Iterator[str]:
    """Dates of the same form, near to ``fact``."""
    text, form = fact.text, fact.form
    if form.startswith("weekday"):
        name = next(name for name in WEEKDAYS if name in text)
        yield text.replace(name, rng.choice([other for other in WEEKDAYS if other != name]))
    elif form == "month":
        yield from rng.sample(MONTHS, 3)
    elif form == "decade":
        if match := re.search(r"\d0(?=s)", text):
            yield text[: match.start()] + rng.choice("23456789") + text[match.start() + 1 :]
    elif form in ("day-month", "month-day") and (month := next((m for m in MONTHS if m in text), None)):
        last = monthrange(_COMMON_YEAR, MONTHS.index(month) + 1)[1]
        for day in rng.sample(range(1, last + 1), 4):
            if spot := _DAY.search(text):
                yield text[: spot.start()] + _day(day, spot[0]) + text[spot.end() :]
    else:
        yield from _other_digits(text, form, rng)


def _other_digits(text: str, form: str, rng: Random) -> Iterator[str]:
    """A year or a time with one of its numbers changed."""
    spots = list(re.finditer(r"\d+", text))
    for _ in range(6):
        spot = spots[0] if form == "year" else rng.choice(spots)
        width = len(spot[0])
        if form == "year":
            new = str(int(spot[0]) + rng.choice((-12, -7, -5, -4, -3, -2, 2, 3, 4, 5, 7, 12)))
        else:
            minutes = (10, 15, 20, 40, 45, 50)
            new = str(rng.choice(minutes) if spot.start() else rng.randint(1, 12)).rjust(width, "0")
        if len(new) == width:  # a year of 1005 is not swapped for 998
            yield text[: spot.start()] + new + text[spot.end() :]


def _day(day: int, old: str) -> str:
    """A day written like another one: "3", "03" or "3rd"."""
    if old.isdigit():
        return str(day).rjust(2, "0") if old.startswith("0") else str(day)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{'th' if day in (11, 12, 13) else ending}"


DATE = FactSwap("date", _swappable, _from_document, _foreign, first_clean)
