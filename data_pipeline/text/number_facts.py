"""Numbers that are not dates, with the unit they count; ``numbers_zh`` finds those in Chinese text."""

import re

from data_pipeline.text.dates import find_dates
from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.numbers_zh import chinese_numbers
from data_pipeline.text.words import either, words
from judge.types import Language

# A currency sign, digits, a magnitude (million, 万) and a percent sign or an ordinal ending; only the digits
# are required. Ranges ("3-4"), parts of codes ("A4") and of longer numbers do not match.
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,_#/:])(?<![A-Za-z][-–])(?<!\d[-–—~至到])(?P<cur>[$€£¥]\s?)?"
    r"(?P<num>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<mag>\s?(?:million|billion|thousand|trillion)\b|\s?[bm]n\b|[万亿千]+)?(?P<suf>\s?[%％‰]|(?:st|nd|rd|th)\b)?"
    r"(?![A-Za-z_:/(])(?!\d|[.,]\d|\s?[-–—~至到]\s?\d)"
)
_UNIT_EN = re.compile(r"[\s-]+([A-Za-z°]+)")
_NOT_UNITS = frozenset(words("not_units_en"))
_EN_WORDS = re.compile(
    rf"(?<![\w-])({either('number_words_en')})(?![\w-])(?! (?:hundred|thousand|million|billion)\b)", re.I
)
_EN_ORDINALS = re.compile(rf"(?<![\w-])(?<!\ba )({either('ordinal_words_en')})(?![\w-]| of\b)")
_WORD_PATTERNS = ((_EN_WORDS, "word"), (_EN_ORDINALS, "ordinal-word"))


def find_numbers(text: str, language: Language) -> list[Fact]:
    """Numbers that are not dates: digits with sign, percent and magnitude, and safe number words."""
    if language == "zh":
        return chinese_numbers(text)
    taken = [(fact.start, fact.end) for fact in find_dates(text, language)]
    found: list[Fact] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        digits = match["num"]
        if not is_free(taken, start, end) or (len(digits.partition(".")[0]) > 7 and "," not in digits):
            continue
        form = (
            (match["cur"] or "").strip() + ("dec" if "." in digits else "int") + (match["mag"] or "").strip()
        )
        form += "0" * (digits[0] == "0" and "." not in digits)
        suffix = (match["suf"] or "").strip()
        form += "%" if suffix in ("%", "％") else "ord" if suffix else ""
        if re.search(r"[(\[]$", text[:start]) and re.match(r"[)\]]", text[end:]):
            continue
        if re.match(r"[.)]\s", text[end : end + 2]) and re.search(r"(?:^|\n)\s*$", text[:start]):
            continue
        found.append(Fact("number", match.group(), start, end, form, _unit(text, end)))
    for pattern, form in _WORD_PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            found.append(Fact("number", match[1], start, end, form, _unit(text, end)))
    return sorted(found, key=lambda fact: fact.start)


_SCALES = words("scales_en")
_LABELLED = re.compile(
    rf"(?:\b(?:{'|'.join(_SCALES)})s? |\b[A-Z]\w*[A-Za-z]\w* "
    r"|\[[\d\s,–-]*|\bno\. ?|\bp ?[<>=] ?|#|[×x^] ?|[×x] ?10 ?)$"
    r"|\b(?:all|the|other) $"
)
_SENTENCE_WORD = re.compile(rf"(?:^|[.!?:;]\s+|\n\s*)(?:{'|'.join(words('stop_words_en'))}) $", re.I)
_NAMED = re.compile(
    r"-[a-z]?[A-Z]|⁄|/\d| (?:CI\b|dimension\w*|confidence interval|[A-Z]+[a-z]*\d|[A-Z][a-z]+\b)"
    r"|(?:st|nd|rd|th)? century|[\s\d,–-]*\]| ?[×^]|\s*:|[^.]{0,30}:\s| ?\w{0,6} \(\d"
    r"| (?:world|molars?|party|parties|persons?|degree|quarter|trimester|ventricle|dimension|ways?|sides?)\b"
)


def is_label(fact: Fact, text: str) -> bool:
    """Does an English number name rather than count: "Apollo 12", "type 2", "[13]", "these three", "1931"?

    True also if the text then lists or repeats what is counted ("in three steps: ..."): a change would show.
    """
    before, after = text[max(0, fact.start - 24) : fact.start], text[fact.end : fact.end + 40]
    if re.fullmatch(r"(?:1[5-9]|20)\d\d", fact.text) and not fact.unit:
        return True
    digits = re.escape(fact.text)
    if re.search(r"\b(?:these|those|both) $", before, re.I):
        return True
    if _NAMED.match(after) or re.search(
        rf"(?:[A-Za-z]-?{digits}|(?<![\w.,]){digits}-?[A-Z])(?![\d.,])", text
    ):
        return True  # "rAd5", "3D"
    labelled = _LABELLED.search(before)
    if labelled and labelled[0] == "the " and fact.form not in ("word", "int"):
        return False
    return labelled is not None and not _SENTENCE_WORD.search(before)


def _unit(text: str, end: int) -> str:
    """The word after a number, if it is one that numbers count."""
    word = match[1].lower() if (match := _UNIT_EN.match(text, end)) else ""
    return "" if word in _NOT_UNITS else word
