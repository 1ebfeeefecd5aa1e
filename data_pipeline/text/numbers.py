"""The values of the numbers in a text, in digits, in English words or in Chinese numerals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import prod

from data_pipeline.text.words import words

NUMBER_WORDS = words("number_words_en")
ORDINAL_WORDS = words("ordinal_words_en")
SMALL_WORDS = NUMBER_WORDS[:11]
"""Two to twelve."""
_WORDS: dict[str, int] = {
    "zero": 0,
    "one": 1,
    "first": 1,
    "second": 2,
    "dozen": 12,
    **{word: at + 2 if at <= 18 else 10 * (at - 16) for at, word in enumerate(NUMBER_WORDS)},
    **{word: value for value, word in enumerate(ORDINAL_WORDS, start=3)},
}
DIGITS_ZH = "一二三四五六七八九"
NUMERAL_ZH = rf"(?:[{DIGITS_ZH}]?十[{DIGITS_ZH}]?|[{DIGITS_ZH}两])"
"""Pattern of a Chinese numeral up to 99. No edit changes larger ones."""
_SCALES = {
    "hundred": 100, "thousand": 1000, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
_MONTH_VALUES = {month.lower(): value for value, month in enumerate(words("months_en"), start=1)}
_ZH_DIGITS = {char: value for value, char in enumerate(f"零{DIGITS_ZH}")} | {"〇": 0, "两": 2, "兩": 2}
_ZH_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_ZH_CHARS = "".join(_ZH_DIGITS) + "".join(_ZH_SCALES)

_ENGLISH = "|".join(sorted([*_WORDS, *_SCALES], key=len, reverse=True))
_DIGITS = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)"
    r"(?:\s?(?P<scale>hundred|thousand|lakh|million|crore|billion|trillion|[十百千万萬亿億]+|k\b|m\b|bn\b))?",
    re.I,
)
_ORDINALS = ("first", "second", *ORDINAL_WORDS)
_ORDINAL = "|".join(_ORDINALS)
_CARDINAL = "|".join(sorted({*_WORDS} - {*_ORDINALS}, key=len, reverse=True))
# "Two hundred and five" is one number; "twenty and thirty" and "first two" are two.
_PART = rf"(?:(?:{'|'.join(_SCALES)})(?:\s+and(?=\s+(?:{_ENGLISH})\b))?|{_CARDINAL})\b"
_IN_WORDS = re.compile(rf"\b(?:{_PART}(?:[\s-]+{_PART})*(?:[\s-]+(?:{_ORDINAL})\b)?|(?:{_ORDINAL})\b)", re.I)
_IN_CHINESE = re.compile(f"[{_ZH_CHARS}]+")
_DOTTED_DATE = re.compile(r"\b(\d{1,4})\.(\d{1,2})\.(\d{1,4})\b")
_YEARS = re.compile(r"\b(\d\d)\d\d[-–/](\d\d)\b")
_TENTHS = re.compile(r"([一二两三四五六七八九]|\d)成")
_SHORT_SCALES = {"k": 1000, "m": 10**6, "bn": 10**9}


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its span, its value, and the value without the magnitude (1.5 of 1.5 million)."""

    start: int
    end: int
    value: Decimal
    bare: Decimal
    digits: str = ""


def numbers(text: str) -> Iterator[Number]:
    """All numbers of a text: first those in digits, then in English words, then in Chinese numerals."""
    text = _DOTTED_DATE.sub(r"\1-\2-\3", text)
    for match in _DIGITS.finditer(text):
        digits = match["number"].replace(",", "")
        scale = _scale(match["scale"] or "")
        yield Number(match.start(), match.end(), Decimal(digits) * scale, Decimal(digits), digits)
    for match in _IN_WORDS.finditer(text):
        value = Decimal(_english(match[0]))
        yield Number(match.start(), match.end(), value, value)
    for match in _IN_CHINESE.finditer(text):
        value = Decimal(_chinese(match[0]))
        yield Number(match.start(), match.end(), value, value)


@lru_cache(maxsize=16)
def values(text: str) -> frozenset[Decimal]:
    """All values that the numbers and months of a text may have."""
    found = {value for number in numbers(text) for value in (number.value, number.bare)}
    found |= {Decimal(match[1] + match[2]) for match in _YEARS.finditer(text)}  # 2014-15
    found |= {10 * Decimal(_ZH_DIGITS.get(match[1], match[1])) for match in _TENTHS.finditer(text)}
    lowered = text.lower()
    return frozenset(found | {Decimal(value) for name, value in _MONTH_VALUES.items() if name in lowered})


def _scale(text: str) -> Decimal:
    scale = _SCALES.get(text.lower()) or _SHORT_SCALES.get(text.lower())
    return Decimal(scale or prod(_ZH_SCALES[char] for char in text))


def _english(text: str) -> int:
    total = current = 0
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
    return total + current


def value_of(text: str) -> float:
    """The value of a number in digits, an English word or Chinese numerals; 0 if unknown."""
    word = text.strip().lower()
    if word in NUMBER_WORDS:
        return float(_WORDS[word])
    if _IN_CHINESE.fullmatch(word):
        return float(_chinese(word))
    digits = re.sub(r"[^\d.]", "", text).strip(".")
    return float(digits) if re.fullmatch(r"\d+(?:\.\d+)?", digits) else 0.0


def _chinese(text: str) -> int:
    """The value of a numeral with magnitudes, or of a row of digits as in a year (一九三一)."""
    if not any(char in _ZH_SCALES for char in text):
        return int("".join(str(_ZH_DIGITS[char]) for char in text))
    total = part = digit = 0
    for char in text:
        if char in _ZH_DIGITS:
            digit = _ZH_DIGITS[char]
            continue
        scale = _ZH_SCALES[char]
        if scale < 10**4:
            part, digit = part + max(digit, 1) * scale, 0
        else:
            total, part, digit = (total + part + digit or 1) * scale, 0, 0
    return total + part + digit


def numeral_of(value: int, counts: bool) -> str:
    """The Chinese numeral for 1 to 99; if it ``counts`` (before a measure word), 2 is 两."""
    if value == 2 and counts:
        return "两"
    tens, ones = divmod(value, 10)
    head = "" if not tens else "十" if tens == 1 else DIGITS_ZH[tens - 1] + "十"
    return head + (DIGITS_ZH[ones - 1] if ones else "")


SMALL_VALUES = {
    **{word: str(value) for value, word in enumerate(SMALL_WORDS, start=2)},
    **{numeral_of(value, False): str(value) for value in range(2, 11)},
}
"""The digits of small numbers in English words or Chinese numerals."""
