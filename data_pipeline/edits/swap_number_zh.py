"""The edit type ``number`` in Chinese: another number of the document that counts the same, or a near one."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.edits.edit import Option, bare, digits_of, listed_together, occurs
from data_pipeline.edits.edit_zh import also_holds, context_of, first_chinese, names
from data_pipeline.edits.swap import FactSwap
from data_pipeline.edits.swap_number import near_digits, say_the_same
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts_zh import chinese_facts, facts_of_answer, is_translated
from data_pipeline.text.numbers import numeral_of, value_of
from data_pipeline.text.segment_zh import plain

_RATIO = 10.0
"""A number of the document is at most this many times larger or smaller than the one it replaces."""
_MAGNITUDES = {"百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8}
_LARGEST = {"岁": 99.0, "分": 59.0, "秒": 59.0}
"""The largest near number for these units, unless the true one is larger."""
_NEAR = 3
"""A small numeral or an ordinal changes by at most this."""


def _swappable(answer: str, document: str, question: str) -> list[Fact]:
    """The numbers of an answer that the question does not name: changing those would show."""
    facts = facts_of_answer("number", answer, document, question)
    return [fact for fact in facts if not names(_whole(fact), question) and not _is_rank(fact, answer)]


def _is_rank(fact: Fact, answer: str) -> bool:
    """Is a number part of a rank or a role (三级高级法官, 第三人)? No other number fits there."""
    return re.match(r"[级級审審]|人民", answer[fact.end :]) is not None or answer[: fact.start].endswith("第")


def _whole(fact: Fact) -> str:
    return fact.text + fact.unit


def _from_document(fact: Fact, answer: str, document: str, question: str) -> Iterator[Option]:
    if is_translated(document):
        return
    context = context_of(fact, answer, question)
    for other in {(o.text, o.form, o.unit): o for o in chinese_facts("number", document)}.values():
        if (other.form, other.unit) != (fact.form, fact.unit) or not fact.unit + fact.form.strip("int"):
            continue
        text = plain(other.text) if fact.text == plain(fact.text) else other.text
        low, high = sorted((_value(fact), _value(other)))
        if not 0 < low < high or high / low > _RATIO or not _fits(fact, text, answer):
            continue
        if names(text + fact.unit, question) or listed_together(fact.text, other.text, document):
            continue
        if not also_holds(_whole(fact), _whole(other), context, document):
            yield 0.0, fact, text


def _foreign(fact: Fact, answer: str, document: str, question: str, rng: Random) -> Iterator[Option]:
    for text in _near(fact, rng):
        if not _fits(fact, text, answer) or names(text + fact.unit, question):
            continue
        if _about_the_same(fact, text, answer):
            continue
        if plain(text) + fact.unit not in plain(document) and not (
            text[0].isdigit() and occurs(text, document)
        ):
            yield 8.0, fact, text


def _near(fact: Fact, rng: Random) -> Iterator[str]:
    """Numbers near to ``fact``, written the same way."""
    text = plain(fact.text)
    if fact.form.endswith("numeral"):
        value = int(value_of(text))
        values = [value + step for step in range(-_NEAR, _NEAR + 1) if step]
        if value > 20:
            values = [value + step for step in range(-9, 10) if abs(step) > 1]
        rng.shuffle(values)
        largest = 9 if fact.form == "leading-numeral" else 10 if fact.unit == "级" else 99
        counts = fact.form in ("numeral", "leading-numeral")
        yield from (numeral_of(new, counts) for new in values if 2 <= new <= largest)
    elif fact.form == "第" or (text.isdigit() and int(text) < 10):
        values = [int(text) + step for step in range(-_NEAR, _NEAR + 1) if step]
        rng.shuffle(values)
        yield from (str(new) for new in values if new >= 2)
    else:
        most = _LARGEST.get(fact.unit, 100.0 if fact.form.endswith("%") or fact.form == "percent" else None)
        for new in near_digits(text, rng):
            if most is None or float(re.sub(r"[^\d.]", "", new)) <= max(most, _value(fact)):
                yield new


def _value(fact: Fact) -> float:
    """The size of a number; 0 for none."""
    text = plain(fact.text)
    if fact.form.endswith("numeral"):
        return value_of(text)
    value = value_of(re.sub(r"[^\d.]", "", text))
    for char in re.sub(r"[^百千万亿]", "", text):
        value *= _MAGNITUDES[char]
    return value


def _fits(fact: Fact, text: str, answer: str) -> bool:
    """Is the number new to the answer, and in the same order among the answer's numbers of its unit?

    So "由25次上升到61次" stays a rise, and a part stays smaller than its whole.
    """
    if bare(text) == bare(fact.text) or occurs(text + fact.unit, answer):
        return False
    new = _value(Fact("number", text, 0, 0, fact.form, fact.unit))
    others = [
        _value(other)
        for other in chinese_facts("number", answer)
        if other.unit == fact.unit and other.start != fact.start and other.form[-1:] == fact.form[-1:]
    ]
    old = _value(fact)
    return all((old > value) == (new > value) and new != value for value in others if value != old)


def _about_the_same(fact: Fact, text: str, answer: str) -> bool:
    """Do two numbers mean about the same here, like "about 385" and "about 386"? One digit never does."""
    old, new = _value(fact), _value(Fact("number", text, 0, 0, fact.form, fact.unit))
    loose = re.search(r"(?:[约約近]|大概)$", answer[: fact.start]) is not None
    return len(digits_of(text)) > 1 and say_the_same(old, new, loose)


CHINESE_NUMBER = FactSwap("number", _swappable, _from_document, _foreign, first_chinese)
