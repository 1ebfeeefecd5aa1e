"""The edit type ``total``: a wrong sum, difference, multiple or superlative over values of the document."""

import re
from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random

from data_pipeline.perturb.edit import Edit, occurs, same_case
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.meaning.support import Candidate, bearing, first_made, sentence_at
from data_pipeline.perturb.meaning.tables import number_in, records, tables
from data_pipeline.perturb.words import pairs
from judge.types import Language

_NUMBER = re.compile(
    r"(?<![\w.,-])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w|[.,]\d)"
    r"|(?<![\w.,-])-?\d+(?:\.\d+)?(?!\w|[.,]\d)"
)
_MOST = re.compile(
    r"\b(?:highest|largest|biggest|most|greatest|longest|tallest|heaviest|fastest|oldest"
    r"|latest|lowest|smallest|least|shortest|cheapest"
    r"|earliest|fewest|youngest|top|first|winner|won|leading|best)\b",
    re.I,
)
_OPERANDS = 60
"""Numbers of a document that are looked at as parts of a sum, at most."""
_PAIRS = 160
"""The same for ratios: numbers that are looked at, at most."""
_ALIKE = 0.08
"""A wrong ratio differs from the true one by such a share of it, at least ..."""
_FAR = 2.5
"""... and is at most so many times larger or smaller."""
_RATIO = re.compile(r" ?(?:%|percent\b|per cent\b|times\b)|x\b|\W*$")
"""What stands behind a number that may be a ratio: also nothing, in an answer that is hardly more."""
_RANGE = re.compile(
    r"\b(?:from|between|rang\w+|up to|as (?:high|low) as|peak\w*|maximum|minimum|at (?:most|least)"
    r"|(?:high|low) of)\b",
    re.I,
)
"""Words of a sentence that names the ends of a range."""
_TABLE = 12
"""Numbers of a document from which on it is taken for data that one computes with."""


def total(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Make a comparison or computation over values of the document wrong.

    A multiple becomes another one where the document has it; a computed number, which is not in the document
    but the sum or difference of two that are, is computed with one wrong part; a ratio, a share or a growth
    is turned round or has another base; what comes first in a column gives way to what comes second, and so
    does the end of a range that a column of a table or the objects of a JSON list span.
    """
    if language != "en" or is_translation(answer, document):
        return None
    found = [
        *_multiples(answer, document),
        *_computed(answer, document),
        *_shares(answer, document, question),
        *_ends_of_ranges(answer, document),
        *_seconds(answer, document, question),
    ]
    return first_made("total", answer, document, rng, found)


def _multiples(answer: str, document: str) -> Iterator[Candidate]:
    for old, new in pairs("multiples_en"):
        for match in re.finditer(
            rf"(?<![\w-])(?<!a )(?<!the first )(?<!the second ){re.escape(old)}(?![\w-])(?! (?:an inch"
            rf"|a (?:cup|mile|year|lemon|day|week|month)|per|daily|each|every|one\b))",
            answer,
            re.I,
        ):
            part = sentence_at(answer, match.start())
            texts = bearing(answer[part.start : part.end], document)
            said = any(occurs(old, text) for text in texts) and not any(occurs(new, text) for text in texts)
            if said and not re.search(
                r"\b(?:or|and|to|than|first|second|other|more) $", answer[: match.start()]
            ):
                yield match.start(), match.end(), same_case(match[0], new)


def _computed(answer: str, document: str) -> Iterator[Candidate]:
    """A number that is the sum or difference of two of the document, computed with another one."""
    stated = list(dict.fromkeys(match[0] for match in _NUMBER.finditer(document)))[:_OPERANDS]
    if len(stated) < _TABLE:
        return
    for match in _NUMBER.finditer(answer):
        places = _places(match[0])
        result = _value(match[0])
        if (
            occurs(match[0], document)
            or len(re.sub(r"\D|^0+|\.0+$", "", match[0])) < 3
            or not _amount(answer, match)
        ):
            continue
        slack = 0.5 * 10**-places
        values = [_value(text) for text in stated]
        for one, two in combinations(values, 2):
            sign = next(
                (
                    s
                    for s in (1, -1)
                    if min(abs(one + s * two - result), abs(s * one + two - result)) <= slack
                ),
                0,
            )
            if not sign or result in (one, two) or min(one, two) <= 0:
                continue
            others = [
                value for value in values if value not in (one, two) and 0.3 <= value / max(two, 1e-9) <= 3
            ]
            for other in others:
                wrong = one + sign * other if one + sign * two > 0 else sign * one + other
                text = _written(wrong, match[0])
                if wrong > 0 and 0.5 <= wrong / result <= 2 and text != match[0] and not occurs(text, answer):
                    yield match.start(), match.end(), text


def _shares(answer: str, document: str, question: str) -> Iterator[Candidate]:
    """A number that is the ratio of two of the document, or a growth from one to the other, also in percent.

    It becomes what a slip makes of the same two: the ratio the other way round, or the growth over the other
    base.
    """
    stated = list(dict.fromkeys(_value(match[0]) for match in _NUMBER.finditer(document)))[:_PAIRS]
    values = [abs(value) for value in stated if value]
    if len(values) < 2:
        return
    for match in _NUMBER.finditer(answer):
        places, result = _places(match[0]), abs(_value(match[0]))
        behind = _RATIO.match(answer, match.end())
        if not behind or not result or any(occurs(match[0], text) for text in (document, question)):
            continue
        if len(re.sub(r"\D|^[0.]+", "", match[0])) < 2 or (not places and "%" not in behind[0]):
            continue
        if match[0].startswith("-") and answer[: match.start()].endswith("\n"):
            continue  # the mark of a list
        if not behind[0].strip(" .") and len(answer) > 2 * len(match[0]) + 4:
            continue
        scale, slack = (100.0 if behind[0].strip().startswith(("%", "p")) else 1.0), 0.5 * 10**-places
        for one, two in permutations(values, 2):
            for true, slip in (
                (scale * one / two, scale * two / one),
                (scale * abs(one - two) / two, scale * abs(one - two) / one),
            ):
                text = _written(slip, match[0].lstrip("-"))
                wrong = _value(text)
                if abs(true - result) > slack or not wrong or abs(wrong - result) < _ALIKE * result:
                    continue
                if max(wrong, result) <= _FAR * min(wrong, result) and not occurs(text, answer + document):
                    sign = "-" if match[0].startswith("-") else ""
                    yield match.start(), match.end(), sign + text


def _ends_of_ranges(answer: str, document: str) -> Iterator[Candidate]:
    """The highest or lowest number of a column, named as such and not by its row, becomes the next one."""
    for rows in (*tables(document), *records(document)):
        for column in range(len(rows[0])):
            found = {number_in(row[column]): row[column] for row in rows[1:]}
            ranked = sorted(value for value in found if value is not None)
            if len(ranked) < 3:
                continue
            for first, second in ((ranked[-1], ranked[-2]), (ranked[0], ranked[1])):
                old, new = (_shown(found[value]) for value in (first, second))
                spots = [match for match in _NUMBER.finditer(answer) if match[0] == old]
                if len(spots) != 1 or old == new or occurs(new, answer):
                    continue
                part = sentence_at(answer, spots[0].start())
                said = answer[part.start : part.end]
                named = any(occurs(row[0], said) for row in rows[1:])
                if not named and (_RANGE.search(said) or _MOST.search(said)):
                    yield spots[0].start(), spots[0].end(), new


def _shown(cell: str) -> str:
    """The number of a cell as it stands there."""
    match = _NUMBER.search(cell)
    return match[0] if match else cell


def _amount(answer: str, match: re.Match[str]) -> bool:
    """Is a number an amount: the whole answer, money, or a share? Years and ages are computed by nobody."""
    before, after = answer[: match.start()], answer[match.end() :]
    return (
        not re.search(r"\w", before + after)
        or re.search(r"[$£€] ?$", before) is not None
        or re.match(r" ?(?:%|percent|million|billion)", after) is not None
    )


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _places(text: str) -> int:
    return len(text.partition(".")[2])


def _written(value: float, like: str) -> str:
    """A number in the form of another one."""
    return f"{value:,.{_places(like)}f}" if "," in like else f"{value:.{_places(like)}f}"


def _seconds(answer: str, document: str, question: str) -> Iterator[Candidate]:
    """The row that comes first in a column, and the one that comes second."""
    if not _MOST.search(f"{question} {answer}"):
        return
    for rows in (*tables(document), *records(document)):
        for column in range(1, len(rows[0])):
            values = [(number_in(row[column]), row) for row in rows[1:]]
            ranked = sorted(
                ((value, row) for value, row in values if value is not None), key=lambda item: item[0]
            )
            if len(ranked) < 3 or len({value for value, _ in ranked}) < len(ranked):
                continue
            for first, second in ((ranked[-1], ranked[-2]), (ranked[0], ranked[1])):
                old, new = first[1][0], second[1][0]
                spots = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", answer)]
                if (
                    len(spots) != 1
                    or occurs(new, answer)
                    or occurs(new, question)
                    or occurs(old, new)
                    or occurs(new, old)
                ):
                    continue
                start, end = spots[0]
                if not _MOST.search(
                    answer[sentence_at(answer, start).start : sentence_at(answer, start).end] + question
                ):
                    continue
                value = answer.find(first[1][column], end)
                if value < 0:
                    yield start, end, new
                else:
                    yield start, value + len(first[1][column]), new + answer[end:value] + second[1][column]
