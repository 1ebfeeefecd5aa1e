"""Proper names in Chinese text, found by what may stand around them, since nothing marks a name.

Titles stand in 《》; places and organisations end in a suffix; foreign names are written with characters of
their sound; Chinese people are named by a surname and one or two more characters.
"""

import re

from data_pipeline.perturb.fact import CJK, Fact, is_free
from data_pipeline.perturb.words import characters, either

ZH_EDGE = characters("name_edges_zh") + "，。、；：？！（）“”《》 \n"
"""Characters next to which a name may begin or end."""
_SURNAMES = characters("surnames_zh")
_WEAK_SURNAMES = characters("weak_surnames_zh")
_SOUND = characters("sounds_zh")
_ROLE = "长师员生友档家者士弟兄女妻商匠傅医官手"
_ORGANISATION_SUFFIX = either("organisation_suffixes_zh")
_SUFFIX = f"{_ORGANISATION_SUFFIX}|{either('place_suffixes_zh')}"
_PLACE_GROUPS = ("市县镇省区村", "山峡岛", "河湖江湾港", "路街")
_ORGANISATION = re.compile(rf"(?:{_ORGANISATION_SUFFIX})$")
_PLACE = re.compile(
    rf"(?<=[{ZH_EDGE}])([\u4e00-\u9fff]{{2,5}}?(?:{_SUFFIX}))(?![\u4e00-\u9fff]?(?:{_SUFFIX}))"
)
# Characters that no place begins with, and characters that are nowhere in one.
_NOT_A_PLACE_START = re.compile(r"[年月日时个这那其一二三四五六七八九十两全本各每某当该上下中内外新老大小\d]")
_NOT_IN_A_PLACE = re.compile(r"[能可已曾要想必须则仅只最更很起发违]")
_TITLE = re.compile(rf"(?:{either('titles_zh')})")
_PERSON = re.compile(rf"(?=([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}))")
_NOT_GIVEN = re.compile(rf"[{characters('not_in_given_names_zh')}]")
_FOREIGN = re.compile(
    rf"(?<![{_SOUND}·])[{_SOUND}]{{2,7}}(?:·[{_SOUND}]{{1,7}})+(?![{_SOUND}·])"
    rf"|(?<![{_SOUND}·])[{_SOUND}]{{3,7}}(?![{_SOUND}·])"
)


def chinese_names(text: str) -> list[Fact]:
    """The names of a Chinese text: titles of works first, then places, foreign names and people."""
    found: list[Fact] = []
    taken: list[tuple[int, int]] = []

    def add(start: int, end: int, form: str) -> None:
        if is_free(taken, start, end):
            taken.append((start, end))
            found.append(Fact("entity", text[start:end], start, end, form))

    for match in re.finditer(r"《[^《》]{1,20}》", text):
        add(*match.span(), "title")
    for match in _PLACE.finditer("，" + text):
        name = match[1]
        if (
            not _NOT_A_PLACE_START.search(name[:2])
            and not _NOT_IN_A_PLACE.search(name)
            and not set(name) & set(ZH_EDGE)
        ):
            form = "organisation" if _ORGANISATION.search(name) else _place_form(name)
            add(match.start(1) - 1, match.end(1) - 1, form)
    for match in _FOREIGN.finditer(text):
        before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
        alone = before in ZH_EDGE or not CJK.match(before)
        if len(match.group()) >= 3 and alone and (after in ZH_EDGE + "人市州国派" or not CJK.match(after)):
            add(*match.span(), "person" if "·" in match.group() else "foreign")
    known = _chinese_people(text)
    for name in sorted(known, key=len, reverse=True):
        for match in re.finditer(re.escape(name), text):
            add(*match.span(), "person")
    return sorted(found, key=lambda fact: fact.start)


def _place_form(name: str) -> str:
    """The kind of place, by its ending: a town may stand for a village, but not for a lake."""
    for group in _PLACE_GROUPS:
        if name[-1] in group:
            return f"place{group[0]}"
    return f"place{name[-1]}"


def _chinese_people(text: str) -> set[str]:
    """Names of people: a surname with a title after it, or seen twice, or closed by a mark."""
    people: set[str] = set()
    for match in _PERSON.finditer(text):
        start, name = match.start(), match[1]
        if len(name) == 3 and (_NOT_GIVEN.search(name[2]) or text.count(name[:2]) > text.count(name)):
            name = name[:2]
        if (
            _NOT_GIVEN.search(name[1:])
            or not set(name[1:]) - set(_SOUND)
            or re.match(r"[·•]", text[max(0, start - 1) :])
        ):
            continue
        before, after = text[max(0, start - 1) : start], text[start + len(name) :]
        if before and before not in ZH_EDGE + _ROLE:
            continue
        titled = _TITLE.match(after) is not None
        closed = len(name) == 3 and (after[:1] in tuple("，。、（；") or before in tuple(_ROLE))
        repeated = len(re.findall(rf"(?:^|[{ZH_EDGE}{_ROLE}]){name}", text)) >= 2
        plain = name[0] not in _WEAK_SURNAMES
        if titled or (repeated and (plain or len(name) == 3)) or (closed and plain):
            people.add(name)
    return people
