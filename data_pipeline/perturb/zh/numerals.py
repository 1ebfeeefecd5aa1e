"""Chinese numerals up to 99 as values, and back: 三十五 is 35. Larger ones are left alone by every rule."""

import re

DIGITS = "一二三四五六七八九"
NUMERAL = rf"(?:[{DIGITS}]?十[{DIGITS}]?|[{DIGITS}两])"
"""A numeral up to 99, as a pattern."""
_PARTS = re.compile(rf"(?:([{DIGITS}])?(十))?([{DIGITS}两])?")


def value_of(numeral: str) -> int:
    """The value of a numeral that :data:`NUMERAL` matches."""
    parts = _PARTS.fullmatch(numeral)
    if parts is None:
        raise ValueError(f"{numeral!r} is no Chinese numeral up to 99")
    tens, ten, ones = parts.groups()
    high = (DIGITS.index(tens) + 1 if tens else 1) if ten else 0
    return 10 * high + (2 if ones == "两" else DIGITS.index(ones) + 1 if ones else 0)


def numeral_of(value: int, counts: bool) -> str:
    """The numeral for 1 to 99; one that counts (before a measure word) says 两 for 2."""
    if value == 2 and counts:
        return "两"
    tens, ones = divmod(value, 10)
    head = "" if not tens else "十" if tens == 1 else DIGITS[tens - 1] + "十"
    return head + (DIGITS[ones - 1] if ones else "")
