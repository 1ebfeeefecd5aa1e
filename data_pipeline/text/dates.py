"""Dates and times in text; ``dates_zh`` finds those in Chinese."""

import re
from functools import lru_cache

from data_pipeline.text.dates_zh import chinese_dates
from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.words import words
from judge.types import Language

MONTHS = words("months_en")
WEEKDAYS = words("weekdays_en")
_MONTH = "(?:" + "|".join(MONTHS) + ")"
_YEAR_BEFORE = (
    r"(?:\b(?:in|since|by|from|until|till|to|after|before|during|of|year|and|between|or|early|late|mid|about"
    r"|around|circa|summer|spring|autumn|winter|fall|season|election|"
    + "|".join(MONTHS)
    + r")|\d{1,2},|[(–/])\s?$"
)
# The forms of dates, longer ones first: text matched by one pattern is closed to the next.
_DATES = (
    ("iso-year", r"(?<![\w.,-])(?:1\d|20)\d\d(?=-\d\d-\d\d(?!\d))"),
    ("day-month", rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"),
    ("month-day", rf"\b{_MONTH} (?:the )?\d{{1,2}}(?:(?:st|nd|rd|th)\b|\b(?![\d,.]*\d{{3}}))"),
    ("clock", r"(?<![\d:.])\d{1,2}:\d\d(?!:?\d)(?! ?[ap]\.?m)"),
    ("clock-ampm", r"(?<![\d:.])\d{1,2}(?:[:.]\d\d)? ?[ap]\.?m\b"),
    ("weekdays", rf"\b(?:{'|'.join(WEEKDAYS)})s\b"),
    ("weekday", rf"\b(?:{'|'.join(WEEKDAYS)})\b"),
    ("decade", r"\b(?:1\d|20)\d0s\b"),
    ("year", r"(?<![\w.,$€£#-])(?:1[0-9]|20)\d\d(?![\w%-]|[.,:]\d)"),
    ("month", rf"\b{_MONTH}\b"),
)
_CITED = re.compile(r"\bet al\b[^)]*$|\band [A-Z][\w-]+ \($|[(;] ?[A-Z][\w-]+(?: (?:and|&) [A-Z][\w-]+)?, $")
_MAY_DATE = re.compile(rf"\d|{'|'.join((*MONTHS, *WEEKDAYS))}")
_PATTERNS = [(form, re.compile(pattern)) for form, pattern in _DATES]


def find_dates(text: str, language: Language) -> list[Fact]:
    """Dates and times. A full English date gives two facts, day with month and year; a date like 1931-03-04
    gives only its year. The year of a citation ("Abel et al., 1931") is skipped."""
    return chinese_dates(text) if language == "zh" else list(_english_dates(text))


@lru_cache(maxsize=1024)
def _english_dates(text: str) -> tuple[Fact, ...]:
    """Cached, since the search for numbers needs them too. Texts without digits, months and weekdays are
    skipped quickly."""
    if not _MAY_DATE.search(text):
        return ()
    found: list[Fact] = []
    taken: list[tuple[int, int]] = []
    for form, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            before = text[max(0, start - 14) : start]
            if not is_free(taken, start, end):
                continue
            if form == "year" and not _is_year(text, start, end):
                continue
            if form == "month" and not _is_month(text, end, match.group(), before):
                continue
            if form == "weekday" and re.search(r"\b(?:Bloody|Black|Good|Easter|Palm|Super|Holy) $", before):
                continue
            taken.append((start, end))
            found.append(Fact("date", match.group(), start, end, "year" if form == "iso-year" else form))
    return tuple(sorted(found, key=lambda fact: fact.start))


def _is_year(text: str, start: int, end: int) -> bool:
    if _CITED.search(text[max(0, start - 40) : start]) or re.match(r" [A-Z]{1,3}\d", text[end : end + 5]):
        return False  # the second pattern is the name of a minor planet
    if re.search(_YEAR_BEFORE, text[max(0, start - 14) : start], re.I):
        return not re.match(
            r"\s(?:people|metres|meters|years|copies|visitors|units|square|cubic|\w{4,}s\b)", text[end:]
        )
    return bool(re.match(r"[),;.]", text[end:]) and re.search(r"[(,]\s?$", text[:start]))


def _is_month(text: str, end: int, month: str, before: str) -> bool:
    if month not in ("May", "March"):
        return True
    return bool(
        re.match(r",? \d{4}", text[end:])
        or re.search(r"\b(?:in|of|by|since|until|early|late|mid|last) $", before)
    )
