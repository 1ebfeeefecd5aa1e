"""The edit type ``date``: another date or time of the document, or one near to the true one."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.perturb.dates import MONTHS, WEEKDAYS
from data_pipeline.perturb.edit import Edit, Option, bare, digits_of, first_clean, fits, occurs
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import answer_facts, document_facts, is_translation
from judge.types import Language


def date(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another date of the document of the same sub-kind; else a near one."""
    options: list[Option] = []
    for fact in answer_facts("date", answer, document, question, language):
        options += _from_document(fact, answer, document, question, language)
        options += _foreign(fact, answer, document, question, rng)
    return first_clean("date", answer, document, language, rng, options)


def foreign_date(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """A near date that the document does not hold."""
    options: list[Option] = []
    for fact in answer_facts("date", answer, document, question, language):
        options += _foreign(fact, answer, document, question, rng)
    return first_clean("date", answer, document, language, rng, options)


def _asked(fact: Fact, question: str) -> float:
    """Facts that the question names are exchanged last."""
    return 1.5 if occurs(fact.text, question) else 0.0


def _from_document(
    fact: Fact, answer: str, document: str, question: str, language: Language
) -> Iterator[Option]:
    translated = is_translation(answer, document)
    for other in document_facts("date", answer, document, language):
        text = other.text
        if other.form != fact.form or (translated and fact.form != "year"):
            continue  # the document of a translation writes its months and weekdays in another language
        if fact.form == "year":  # written as the answer writes it
            text = fact.text.replace(digits_of(fact.text), digits_of(text))
        if fits(fact.text, text, answer, question, document):
            if translated and fact.form == "year" and text not in document:
                text = digits_of(text) + fact.text[4:]
            yield _asked(fact, question), fact, text


def _foreign(fact: Fact, answer: str, document: str, question: str, rng: Random) -> Iterator[Option]:
    for text in _near_date(fact, rng):
        if text not in document and not occurs(text, answer + question) and bare(text) != bare(fact.text):
            yield _asked(fact, question) + 8, fact, text


def _near_date(fact: Fact, rng: Random) -> Iterator[str]:
    """Dates of the same sub-kind, near to ``fact``."""
    text, form = fact.text, fact.form
    if form.startswith("weekday"):
        for name in WEEKDAYS:
            if name in text:
                yield text.replace(name, rng.choice([other for other in WEEKDAYS if other != name]))
                return
    elif form == "month" and text in MONTHS:
        yield from rng.sample(MONTHS, 3)
    elif form == "decade":
        match = re.search(r"\d0(?=s)", text)
        if match:
            yield text[: match.start()] + rng.choice("23456789") + text[match.start() + 1 :]
    else:
        spots = list(re.finditer(r"\d+", text))
        for _ in range(6):
            if not spots:
                return
            spot = spots[0] if form == "year" else rng.choice(spots)
            value, width = int(spot.group()), len(spot.group())
            if form == "year":
                new = value + rng.choice((-12, -7, -5, -4, -3, -2, 2, 3, 4, 5, 7, 12))
            elif form.startswith("clock"):
                new = rng.choice((10, 15, 20, 40, 45, 50)) if spot.start() else rng.randint(1, 12)
            else:
                new = rng.randint(1, 28)
            if new > 0 and len(str(new)) <= max(width, 1):
                padded = (
                    str(new).rjust(width, "0")
                    if form.startswith("clock") or spot.group()[0] == "0"
                    else str(new)
                )
                yield text[: spot.start()] + padded + text[spot.end() :]
