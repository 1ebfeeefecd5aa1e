"""The edit type ``date`` in Chinese: another date or time of the document of the same form, or a near one."""

import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random

from data_pipeline.edits.edit import Option, digits_of, listed_together
from data_pipeline.edits.edit_zh import also_holds, context_of, first_chinese, names
from data_pipeline.edits.swap import FactSwap
from data_pipeline.edits.swap_date import FURTHEST, LATEST
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import facts_of
from data_pipeline.text.facts_zh import chinese_facts, facts_of_answer, is_translated
from data_pipeline.text.segment_zh import plain, sentence_of

_STEPS = (-12, -9, -7, -6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 7, 9, 12)
_AHEAD = re.compile(r"预计|将于|将在|计划|未来|有望|直至|直到")
# Weekdays that texts name about as often, so that the wrong one is no rarer than the true one.
_OTHER_DAYS = dict(
    zip("一二三四五六日天", ("二三", "三一", "二四", "五三", "四", "日", "六", "六"), strict=True)
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _swappable(answer: str, document: str, question: str) -> list[Fact]:
    """The dates of an answer that the question does not name: changing those would show."""
    facts = facts_of_answer("date", answer, document, question)
    return [fact for fact in facts if not names(fact.text.removesuffix("号").removesuffix("日"), question)]


def _from_document(fact: Fact, answer: str, document: str, question: str) -> Iterator[Option]:
    if fact.form.startswith("clock"):
        return
    if (translated := is_translated(document)) and fact.form != "year":
        return
    others = facts_of("date", document, "en" if translated else "zh")
    context = context_of(fact, answer, question)
    for other in {(o.text, o.form): o for o in others}.values():
        if other.form != fact.form or listed_together(fact.text, other.text, document):
            continue
        text = _written(fact, other)
        fits = text and _fits(fact, text, answer, question)
        if fits and not also_holds(fact.text, other.text, context, document):
            yield 0.0, fact, text


def _written(fact: Fact, other: Fact) -> str:
    """The other date, written like the fact: 8月31号 and 8月31日 are one day."""
    numbers = iter(re.findall(r"\d+", plain(other.text)))
    spots = re.findall(r"\d+", plain(fact.text))
    if not spots or len(spots) != len(re.findall(r"\d+", plain(other.text))):
        return other.text if not spots and not digits_of(other.text) else ""
    return re.sub(r"\d+", lambda match: next(numbers), fact.text)


def _foreign(fact: Fact, answer: str, document: str, question: str, rng: Random) -> Iterator[Option]:
    held = {_key(other) for other in chinese_facts("date", document)}
    for text in _near(fact, rng):
        new = _key(Fact("date", text, 0, 0, fact.form)) not in held and plain(text) not in plain(document)
        if new and _fits(fact, text, answer, question):
            yield 8.0, fact, text


def _near(fact: Fact, rng: Random) -> Iterator[str]:
    """Dates of the same form, near to ``fact``; days stay within their month."""
    text, form = fact.text, fact.form
    if form == "weekday":
        others = _OTHER_DAYS[text[-1]]
        yield from (text[:-1] + day for day in rng.sample(others, len(others)))
        return
    spots = list(re.finditer(r"\d+", text))
    for _ in range(8 if spots else 0):  # years and centuries in Chinese numerals are left alone
        spot = _spot(form, spots, rng)
        value = int(spot.group())
        new = _near_value(form, value, spot is spots[0], [int(match.group()) for match in spots], rng)
        if new != value:
            width = len(spot.group()) if spot.group()[0] == "0" or (form == "clock" and spot.start()) else 1
            yield text[: spot.start()] + str(new).rjust(width, "0") + text[spot.end() :]


def _spot(form: str, spots: list[re.Match[str]], rng: Random) -> re.Match[str]:
    """Which number of a date changes: the decade, not its century; a month or its day; else the first one."""
    if form == "century-decade":
        return spots[-1]
    if form == "month-day":
        return rng.choice(spots)
    return spots[0]


def _near_value(form: str, value: int, first: bool, numbers: list[int], rng: Random) -> int:
    if form == "year":
        return value + rng.choice(_STEPS)
    if form in ("decade", "century-decade"):
        low = value - value % 100
        return low + rng.choice([ten for ten in range(10, 100, 10) if abs(ten - value % 100) <= 40])
    if form == "century":
        return min(21, max(1, value + rng.choice((-3, -2, -1, 1, 2))))
    if form.startswith("clock"):
        return min(22, max(6, value + rng.choice((-3, -2, -1, 1, 2, 3))))
    if form == "month" or (form == "month-day" and first):
        day = numbers[1] if form == "month-day" else 1
        near = (value + rng.choice((-3, -2, -1, 1, 2, 3)) - 1) % 12 + 1
        return near if day <= _DAYS[near - 1] else value
    longest = _DAYS[numbers[0] - 1] if form == "month-day" else 28
    return rng.randint(1, longest)


@lru_cache(maxsize=4096)
def _key(fact: Fact) -> tuple[str, ...]:
    """A date's value, however it is written."""
    numbers = [number.lstrip("0") for number in re.findall(r"\d+", plain(fact.text))]
    return (fact.form, *(numbers or [plain(fact.text)]))


def _fits(fact: Fact, text: str, answer: str, question: str) -> bool:
    """Is it another date, near enough, not named yet, that keeps the answer's dates in order?"""
    new = Fact("date", text, 0, 0, fact.form)
    shown = [other for other in chinese_facts("date", answer) if other.form == fact.form]
    if _key(new) == _key(fact) or any(_key(new) == _key(other) for other in shown) or names(text, question):
        return False
    if fact.form != "year":
        return True
    old_year, new_year = int(digits_of(fact.text)), int(digits_of(text))
    if new_year > LATEST or new_year < 300 or len(str(old_year)) != len(str(new_year)):
        return False
    if abs(old_year - new_year) > (FURTHEST if old_year >= 1900 else 3 * FURTHEST):
        return False
    if new_year < old_year and _AHEAD.search(sentence_of(plain(answer), fact.start)):
        return False
    years = [int(digits_of(other.text)) for other in shown if other.start != fact.start]
    years += [int(year) for year in re.findall(r"(?<!\d)(?:1\d|20)\d\d(?= ?年)", plain(question))]
    return all((old_year > year) == (new_year > year) for year in years if year != old_year)


CHINESE_DATE = FactSwap("date", _swappable, _from_document, _foreign, first_chinese)
