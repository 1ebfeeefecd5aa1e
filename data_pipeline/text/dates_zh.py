"""Dates and times in Chinese text."""

import re

from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.numbers import DIGITS_ZH, NUMERAL_ZH
from data_pipeline.text.segment_zh import is_whole, plain

# The forms of dates, longer ones first: text matched by one pattern is closed to the next.
_FORMS = tuple(
    (form, re.compile(pattern))
    for form, pattern in (
        ("month-day", r"(?<!\d)(?:1[0-2]|0?[1-9]) ?月 ?(?:3[01]|[12]\d|0?[1-9]) ?[日号]"),
        ("century-decade", r"(?<!\d)(?:1\d|20) ?世纪 ?[1-9]0 ?年代"),
        ("decade", r"(?<!\d)(?:1\d|20)[1-9]0 ?年代"),
        ("century", rf"(?<![\d-])(?:前 ?)?(?:\d{{1,2}}|{NUMERAL_ZH}) ?世纪(?!以来|大|初步|\d)"),
        ("year", r"(?<![\d.,])(?<!前)(?<!前 )(?:1\d|20)\d\d ?年(?![代级制龄历来多半])(?!历史|时间)"),
        ("year", r"(?:(?<=[于在])|(?<=公元)|^)[1-9]\d\d ?年(?![代级制龄历来多间半前后])"),
        (
            "year-numeral",
            rf"(?<![{DIGITS_ZH}〇零])(?:一[五六七八九]|二[〇零○])[{DIGITS_ZH}〇零○]{{2}}年(?!代)",
        ),
        ("month", r"(?<![\d至到~－-])(?:1[0-2]|[1-9]) ?月(?! ?\d|龄|饼|球|亮)"),
        ("day", r"(?<![月\d至到.-])(?<!月 )(?:3[01]|[12]\d|[1-9])[日号](?=[，。上下凌晚早中电,]|$)"),
        ("weekday", r"(?:星期|周|礼拜)[一二三四五六日天]"),
        ("clock", r"(?<![\d:])(?:2[0-3]|[01]?\d)[:：][0-5]\d(?![:：]?\d)"),
        ("clock-zh", r"(?<![\d:.])(?:2[0-4]|1?\d)[点时](?=许|左右|整|[，。至到前后,]|$)"),
    )
)  # fmt: skip


def chinese_dates(text: str) -> list[Fact]:
    """Dates and times. A full date gives two facts: its year, and its month with day."""
    simple = plain(text)
    found: list[Fact] = []
    # A date in a title is part of the title.
    taken = [match.span() for match in re.finditer(r"《[^《》]*》", simple)]
    for form, pattern in _FORMS:
        for match in pattern.finditer(simple):
            start, end = match.span()
            if not is_free(taken, start, end) or (form == "weekday" and not is_whole(text, start, end)):
                continue
            taken.append((start, end))
            found.append(Fact("date", text[start:end], start, end, form))
    return sorted(found, key=lambda fact: fact.start)
