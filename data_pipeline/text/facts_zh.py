"""The facts of a Chinese answer and its document, for Chinese edits."""

import re
from functools import lru_cache, partial

from data_pipeline.text.content import CJK
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import BARE_YEAR, facts_of
from data_pipeline.text.segment_zh import plain

chinese_facts = partial(facts_of, language="zh")
_ASKS_FOR_YEAR = re.compile(r"年|何时|什么时候|什么时间|时间")
_HEADER = re.compile(
    r"\D{0,8}(\d{1,2})[日号](?:\d{1,2}[时点])?，[^，。：]{2,30}(?:发布|刊|报道|转载|首发|援引)"
)
_BRACKET = re.compile(r"[（(][^（）()]*$")


def is_translated(document: str) -> bool:
    """Is the document of a Chinese answer in another language? Then only its years can be compared."""
    return CJK.search(document) is None


def facts_of_answer(kind: str, answer: str, document: str, question: str) -> tuple[Fact, ...]:
    """The dates or numbers of an answer that an edit may change.

    A bare "1931" is a year if one was asked for or if the document uses it as one. Values that a bracket
    repeats in another unit or calendar, and those in the bracket, may not change.
    """
    if BARE_YEAR.fullmatch(answer.strip()):
        shown = f"{answer.strip()}年" in re.sub(r"(?<=\d) (?=年)", "", plain(document))
        if shown or _ASKS_FOR_YEAR.search(plain(question)):
            start = answer.index(answer.strip())
            return (Fact("date", answer.strip(), start, start + 4, "year"),) if kind == "date" else ()
    if answer.strip().isdecimal() and "世纪" in plain(question):
        return ()
    return tuple(
        fact
        for fact in chinese_facts(kind, answer)
        if not _said_twice(fact, answer)
        and not _repeats_header(fact, answer)
        and (is_translated(document) or _held(fact, document))
    )


def _held(fact: Fact, document: str) -> bool:
    """Does the document contain the fact? What it never said cannot be made wrong."""
    said = re.sub(r"\s|[日号]$", "", plain(fact.text))
    return said in _without_spaces(document)


@lru_cache(maxsize=64)
def _without_spaces(document: str) -> str:
    return re.sub(r"\s", "", plain(document))


def _repeats_header(fact: Fact, answer: str) -> bool:
    """Is a date in the header of a report ("31日21时，…发布…报道：3月31日"), or close to the day there?"""
    header = _HEADER.match(plain(answer))
    if header is None:
        return False
    days = re.findall(r"\d+", plain(fact.text))
    near = fact.form in ("month-day", "day") and 0 <= int(header[1]) - int(days[-1]) <= 1
    return fact.start < header.end() or near


def _said_twice(fact: Fact, answer: str) -> bool:
    """Does a bracket repeat a fact in another unit (760毫米（2英尺）) or calendar (元嘉四年（427年）)?"""
    after = re.match(r"[^，。；（()）]{0,6}[（(][^（）()]{0,12}\d", answer[fact.end :])
    before = _BRACKET.search(answer[: fact.start])
    return bool(after) or bool(before and re.search(r"[\d年月日]\S{0,6}$", answer[: before.start()]))
