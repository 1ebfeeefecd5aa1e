"""Find the facts of a text that can be swapped: numbers, dates and names, in English and Chinese.

Rules, not a model: a perturbation needs a certain fact, so everything here rather misses one than takes an
ordinary word for one. ``Fact.form`` says what a fact may be swapped for (a year for a year).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from data_pipeline.text.content import CJK
from data_pipeline.text.dates import find_dates
from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.names_en import english_names
from data_pipeline.text.names_zh import chinese_names
from data_pipeline.text.number_facts import find_numbers
from judge.types import Language


@lru_cache(maxsize=4096)
def find_entities(text: str, language: Language) -> tuple[Fact, ...]:
    """Proper names with their kind in ``form``: person, place, organisation, title, demonym or other."""
    return tuple(chinese_names(text) if language == "zh" else english_names(text))


@lru_cache(maxsize=4096)
def find_facts(text: str, language: Language) -> tuple[Fact, ...]:
    """All facts of ``text`` in order. Names that overlap a date or a number are left out.

    Cached, since edits, pairs and checks ask for the same sentences and answers repeatedly.
    """
    facts = find_dates(text, language) + find_numbers(text, language)
    taken = [(fact.start, fact.end) for fact in facts]
    facts += [fact for fact in find_entities(text, language) if is_free(taken, fact.start, fact.end)]
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


BARE_YEAR = re.compile(r"(?:1\d|20)\d\d")
_ASKS_FOR_YEAR = re.compile(r"\b(?:when|year)\b|年|何时|什么时候", re.I)


def answer_facts(
    kind: str, answer: str, document: str, question: str, language: Language
) -> tuple[Fact, ...]:
    """The facts of one kind in an answer. A bare "1931" is a year if one was asked for, or if the document
    uses it as one."""
    if BARE_YEAR.fullmatch(answer):
        dates = document_facts("date", answer, document, language)
        shown = any(fact.form == "year" and fact.text.startswith(answer) for fact in dates)
        if shown or _ASKS_FOR_YEAR.search(question):
            return (Fact("date", answer, 0, len(answer), "year"),) if kind == "date" else ()
    return facts_of(kind, answer, language)


def document_facts(kind: str, answer: str, document: str, language: Language) -> tuple[Fact, ...]:
    """The facts of one kind in the document of an answer, read in the document's own language."""
    if is_translation(answer, document):
        language = "en" if language == "zh" else "zh"
    return facts_of(kind, document, language)


@lru_cache(maxsize=256)
def facts_of(kind: str, text: str, language: Language) -> tuple[Fact, ...]:
    """The facts of one kind in a text. Cached, since every edit of a sample asks for them again."""
    finders: Mapping[str, Callable[[str, Language], Iterable[Fact]]]
    finders = {"date": find_dates, "number": find_numbers, "entity": find_entities}
    return tuple(finders[kind](text, language))


def is_translation(answer: str, document: str) -> bool:
    """Is the document in another language (a translation)? Then only digits can be compared."""
    return bool(CJK.search(answer)) != bool(CJK.search(document))
