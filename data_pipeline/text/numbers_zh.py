"""Numbers in Chinese text that are not dates, with the unit they count."""

import re
from collections.abc import Iterator

from data_pipeline.text.dates_zh import chinese_dates
from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.numbers import NUMERAL_ZH
from data_pipeline.text.segment_zh import plain, word_before, words_in
from data_pipeline.text.words import characters, either

_MEASURE = rf"(?:{either('units_zh')}|[{characters('measures_zh')}])"
# A currency sign, digits, a magnitude and a percent sign. Parts of ranges, codes and longer numbers do not
# match.
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,_#/:×*-])(?<!\d[-–—~∼～至到])(?P<cur>[$€£¥]\s?)?"
    r"(?P<num>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(?P<mag>[千百]?[万亿]+|百)?余?多?(?P<suf>\s?[%‰])?"
    r"(?![A-Za-z_:/×*]|[年月日号时点][^，。、；的间来后前以内]?\d)(?!\d|[.,]\d|\s?[-–—~∼～至到]\s?\d|[几多余数])"
)
_RANGE = re.compile(
    rf"(?<![A-Za-z\d.,_#/:×*年月日-])(\d{{1,5}})\s?[-–—~∼～至到]\s?(\d{{1,5}})(?=\s?(?!年代?|月|日|号|时|点){_MEASURE})"
)
_PERCENT = re.compile(rf"百分之(\d+(?:\.\d+)?|{NUMERAL_ZH})(?![点百千万几多]|{NUMERAL_ZH})")
_NUMERAL = re.compile(
    rf"(?<![一二三四五六七八九十百千万亿两几数第点零〇半周初])(?<!分之)(?<!星期)(?<!礼拜)({NUMERAL_ZH})"
    rf"(?=余?多?{_MEASURE})(?![一二三四五六七八九十百千万亿字]|分(?![钟秒])|元[组素论]|[大小]?[国人者]$|者|方[^形米面])"
)
# The first digit of a large numeral: 三千多人.
_LEADING = re.compile(
    rf"(?<![一二三四五六七八九十百千万亿两几数第点零〇半])([一二三四五六七八九两])(?=(?:百[万亿]?|千[万亿]?|万|亿)[多余]?{_MEASURE})"
)
_ORDINAL = re.compile(
    rf"第\s?(\d{{1,3}}|{NUMERAL_ZH})(?=\s?{_MEASURE})(?!次(?:世界|大战|国共|鸦片|十字军|工业|中东|印|布匿|巴尔干|内战|直接|产业|[一-龥]{{0,4}}战))"
)
_UNIT = re.compile(rf"\s?[百千万亿]{{0,2}}余?多?({_MEASURE})")
_RANGE_UNIT = re.compile(rf"\s?[-–—~∼～至到]\s?\d+\s?({_MEASURE})")
_ENUMERATION = re.compile(r"(?:^|[\n。；;：:，])\s*$")
_QUOTED = re.compile(r"《[^《》]*》")
_OPENS_COUNT = ("n", "nr", "nrt", "ns", "nz", "nt", "eng")


def chinese_numbers(text: str) -> list[Fact]:
    """Numbers that are not dates: digits, percentages, ordinals and numerals up to 99 before a measure word.

    ``form`` is the way of writing, ``unit`` what is counted. Numbers in titles of works are skipped.
    """
    simple = plain(text)
    taken = [(fact.start, fact.end) for fact in chinese_dates(text)]
    taken += [match.span() for match in _QUOTED.finditer(simple)]
    found = []
    for start, end, form in _candidates(simple):
        if not is_free(taken, start, end):
            continue
        taken.append((start, end))
        unit = _UNIT.match(simple, end) or _RANGE_UNIT.match(simple, end)
        found.append(Fact("number", text[start:end], start, end, form, unit[1] if unit else ""))
    return sorted(found, key=lambda fact: fact.start)


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and form of every possible number in a plain text."""
    for match in _PERCENT.finditer(text):
        yield *match.span(1), "percent" if match[1][0].isdigit() else "percent-numeral"
    for match in _ORDINAL.finditer(text):
        yield *match.span(1), "第" if match[1][0].isdigit() else "第-numeral"
    for match in _RANGE.finditer(text):
        yield *match.span(1), "int"
        yield *match.span(2), "int"
    for match in _NUMBER.finditer(text):
        end = match.end("suf") if match["suf"] else match.end("mag") if match["mag"] else match.end("num")
        if _counts(text, match.start(), end, match):
            sign, magnitude = (match["cur"] or "").strip(), match["mag"] or ""
            form = sign + ("dec" if "." in match["num"] else "int") + magnitude
            yield match.start(), end, form + ("%" if match["suf"] else "")
    for match in _NUMERAL.finditer(text):
        if match[1] != "一" and not _sums_up(text, match) and not _in_name(text, match.start()):
            yield *match.span(1), "numeral"
    for match in _LEADING.finditer(text):
        if not _sums_up(text, match):
            yield *match.span(1), "leading-numeral"


def _counts(text: str, start: int, end: int, match: re.Match[str]) -> bool:
    """Is a number in digits a quantity: with a unit, a sign or a magnitude, or as the whole text?"""
    if (len(match["num"]) > 9 and "," not in match["num"]) or (
        match["num"].startswith("0") and "." not in match["num"]
    ):
        return False
    if re.fullmatch(r"(?:1\d|20)\d\d", match["num"]) and re.match(r"\s?年|\s?$", text[end:]):
        return False
    if re.search(r"[至到~～–-]\s*$", text[:start]):
        return False  # the end of a range
    if match["suf"] or match["cur"] or match["mag"] or _UNIT.match(text, end):
        return not (
            re.match(r"[人方起]?[、.．)）]", text[end : end + 2]) and _ENUMERATION.search(text[:start])
        )
    return not text[:start].strip(" 约大概超过近达共每第于") and not text[end:].strip(" 。.余多")


def _sums_up(text: str, match: re.Match[str]) -> bool:
    """Does a numeral sum up a list next to it ("王欣、李一男两人")? Then it follows from that list."""
    before = word_before(text, match.start())
    behind = text[match.end() :]
    if match[1] in ("两", "二") and behind.startswith("人"):
        return True  # people named before
    if re.match(r"[个点项条种大]", behind) and re.search(r"一是|其一|第一[，,、]|一[、，]", behind):
        return True  # what it counts is listed right after
    if behind[:1] in tuple("个种名位项大") and (
        "、" in re.split(r"[，。；：]", behind)[0]
        or text[max(0, match.start() - 40) : match.start()].count("、") > 1
    ):
        return True
    if before is None or before.end != match.start() or before.tag not in _OPENS_COUNT:
        return False
    listed = "、" in re.split(r"[，。；：]", text[: match.start()])[-1]
    return listed or re.match(r"[人名位国省方个者家]", behind) is not None


def _in_name(text: str, start: int) -> bool:
    """Is a numeral part of a name (九州) or a set phrase (三心二意)?"""
    return any(
        word.start <= start < word.end and word.tag in ("ns", "nz", "nt", "nr", "nrt", "i", "l", "j")
        for word in words_in(text, max(0, start - 8), start + 8)
    )
