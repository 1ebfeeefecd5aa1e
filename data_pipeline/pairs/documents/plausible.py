"""May a number give way to another all over a document, and the text stay a plausible one?"""

import re

from data_pipeline.edits.edit import digits_of, lowered
from data_pipeline.edits.swap_date import FURTHEST
from data_pipeline.text.words import words

_STOP = frozenset(words("stop_words_en"))
_YEAR = r"(?:1\d|20)\d\d"
_BOUND = (
    r"\b(?:(?:more|less|fewer|greater|larger|higher|lower|older|younger|longer|shorter) than|over|above"
    r"|at least|at most|up to|under|below|within|nearly|almost)|[<>≤≥=]|[超逾近内]|超过|至少|最多|不足|不到"
)
"""Words before a number that make it a bound."""
_BOUND_BEFORE = re.compile(rf"(?:{_BOUND})\W{{0,3}}\Z", re.I)
_BOUND_BEHIND = re.compile(r"\w{0,2}(?:以[上下内]|[多余餘])")
_REACH = 40
"""Characters in which such words stand."""


def can_change(old: str, new: str, document: str) -> bool:
    """Has a number two digits at least, and is it never part of a name, as in "Apollo 11" or "7 Wall Street"?

    A small one may be said in words too, or mean other things in other places. One with bounds behind it, as
    in "2.6 (95% CI 2.5-2.7)", has to lie within them; a share behind its count, as in "560 (44.6%)", follows
    from it.
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
    """Is a number a bound somewhere, as in "more than 140"? That is also true of 160."""
    held, sought = lowered(text), lowered(number)
    at = held.find(sought)
    while at >= 0:
        if _BOUND_BEFORE.search(text[max(0, at - _REACH) : at]) or _BOUND_BEHIND.match(
            text, at + len(sought)
        ):
            return True
        at = held.find(sought, at + 1)
    return False


def _year_fits(old: int, new: int, document: str) -> bool:
    """Is a year near the true one, and before and after the same other years of the document?"""
    years = {int(year) for year in re.findall(rf"(?<!\d){_YEAR}(?!\d)", document)} - {old}
    return abs(old - new) <= FURTHEST and new not in years and all((old < y) == (new < y) for y in years)
