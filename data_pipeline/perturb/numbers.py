"""Numbers that are no dates, with the unit that they count; Chinese ones are found in ``numbers_zh``."""

import re

from data_pipeline.perturb.dates import find_dates
from data_pipeline.perturb.fact import Fact, is_free
from data_pipeline.perturb.numbers_zh import chinese_numbers
from data_pipeline.perturb.words import either, words
from judge.types import Language

NUMBER_WORDS = words("number_words_en")
ORDINAL_WORDS = words("ordinal_words_en")
# A currency sign, digits, a magnitude (million, 万) and a percent sign or an ordinal ending; only the digits
# must be there. Ranges ("3-4"), parts of codes ("A4") and of longer numbers are left alone.
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,_#/:])(?<![A-Za-z][-–])(?<!\d[-–—~至到])(?P<cur>[$€£¥]\s?)?"
    r"(?P<num>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<mag>\s?(?:million|billion|thousand|trillion)\b|[万亿千]+)?(?P<suf>\s?[%％‰]|(?:st|nd|rd|th)\b)?"
    r"(?![A-Za-z_:/])(?!\d|[.,]\d|\s?[-–—~至到]\s?\d)"
)
_UNIT_EN = re.compile(r"[\s-]+([A-Za-z°]+)")
_NOT_UNITS = frozenset(words("not_units_en"))
_EN_WORDS = re.compile(
    rf"(?<![\w-])({either('number_words_en')})(?![\w-])(?! (?:hundred|thousand|million|billion)\b)", re.I
)
_EN_ORDINALS = re.compile(rf"(?<![\w-])(?<!\ba )({either('ordinal_words_en')})(?![\w-]| of\b)")
_WORD_PATTERNS = ((_EN_WORDS, "word"), (_EN_ORDINALS, "ordinal-word"))


def find_numbers(text: str, language: Language) -> list[Fact]:
    """Numbers that are no dates: digits with sign, percent and magnitude, and safe number words."""
    if language == "zh":
        return chinese_numbers(text)
    taken = [(fact.start, fact.end) for fact in find_dates(text, language)]
    found: list[Fact] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        digits = match["num"]
        if not is_free(taken, start, end) or (len(digits) > 7 and "," not in digits):
            continue
        form = (
            (match["cur"] or "").strip() + ("dec" if "." in digits else "int") + (match["mag"] or "").strip()
        )
        form += "0" * (digits[0] == "0" and "." not in digits)
        suffix = (match["suf"] or "").strip()
        form += "%" if suffix in ("%", "％") else "ord" if suffix else ""
        unit = _UNIT_EN.match(text, end)
        if re.search(r"[(\[]$", text[:start]) and re.match(r"[)\]]", text[end:]):
            continue
        if re.match(r"[.)]\s", text[end : end + 2]) and re.search(r"(?:^|\n)\s*$", text[:start]):
            continue
        found.append(Fact("number", match.group(), start, end, form, _unit(unit)))
    for pattern, form in _WORD_PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            unit = _UNIT_EN.match(text, end)
            found.append(Fact("number", match[1], start, end, form, _unit(unit)))
    return sorted(found, key=lambda fact: fact.start)


def _unit(match: re.Match[str] | None) -> str:
    word = match[1].lower() if match else ""
    return "" if word in _NOT_UNITS else word
