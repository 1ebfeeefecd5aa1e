"""Can a number be replaced throughout a document so that the text stays plausible?"""

import re

from data_pipeline.edits.edit import digits_of, lowered
from data_pipeline.edits.swap_date import FURTHEST
from data_pipeline.text.sentences import starts_of
from data_pipeline.text.words import words

_STOP = frozenset(words("stop_words_en"))
_YEAR = r"(?:1\d|20)\d\d"
_BOUND = (
    r"\b(?:(?:more|less|fewer|greater|larger|higher|lower|older|younger|longer|shorter) than|over|above"
    r"|at least|at most|up to|under|below|within|nearly|almost)|[<>≤≥=]|[超逾近内]|超过|至少|最多|不足|不到"
)
"""Patterns before a number that make it a bound."""
_BOUND_BEFORE = re.compile(rf"(?:{_BOUND})\W{{0,3}}\Z", re.I)
_BOUND_BEHIND = re.compile(r"\w{0,2}(?:以[上下内]|[多余餘])")
_REACH = 40
"""Such patterns are looked for in this many characters before a number."""


def can_change(old: str, new: str, document: str) -> bool:
    """Does a number have at least two digits, and is it never part of a name ("Apollo 11", "7 Wall Street")?

    Smaller numbers may also be written in words, or mean something else elsewhere. A number before bounds
    ("2.6 (95% CI 2.5-2.7)") must lie within them, and a share after its count ("560 (44.6%)") follows from
    it. A year must stay near the true one and in the same order with the document's other years.
    """
    years = [re.fullmatch(rf"({_YEAR}) ?年?", text.strip()) for text in (old, new)]
    if years[0] and years[1] and not _year_fits(int(years[0][1]), int(years[1][1]), document):
        return False
    found = re.escape(old)
    before = (match[1] for match in re.finditer(rf"\b([A-Z]\w*) {found}(?!\w)", document))
    after = re.search(rf"(?<!\w){found} [A-Z][a-z]", document)
    named = after is not None or any(word.lower() not in _STOP for word in before)
    bounded = re.search(
        rf"(?<!\w){found}[\w%]*(?: [a-z]+)? ?[(\[](?:range|IQR|9\d ?%|CI|\d[\d.]*%? ?(?:[-–,]|to))", document
    )
    counted = re.search(rf"\d ?[(\[]{found}", document)
    return len(digits_of(old)) >= 2 and not named and bounded is None and counted is None


def is_bound(number: str, text: str) -> bool:
    """Is a number a bound somewhere ("more than 140")? Such statements are also true of other numbers."""
    return any(
        _BOUND_BEFORE.search(text[max(0, at - _REACH) : at]) or _BOUND_BEHIND.match(text, at + len(number))
        for at in starts_of(lowered(number), lowered(text))
    )


def _year_fits(old: int, new: int, document: str) -> bool:
    """Is a year near the true one, and in the same order with the other years of the document?"""
    years = {int(year) for year in re.findall(rf"(?<!\d){_YEAR}(?!\d)", document)} - {old}
    return abs(old - new) <= FURTHEST and new not in years and all((old < y) == (new < y) for y in years)
