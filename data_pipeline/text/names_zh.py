"""Proper names in Chinese text, by type and as whole words: a tagger proposes, rules correct it.

The tagger (jieba's dictionary and hidden Markov model) knows persons, places and organisations, but errs on
unseen words. So a person must have a surname and be treated as a person somewhere in the text, a place must
be a known word or have the ending of one, and what touches another name is left alone: it may be part of it.
"""

import re
from collections.abc import Iterator

from data_pipeline.text.content import CJK
from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.people_zh import ANONYMOUS, NAME_TAGS, NOT_NAMES, dotted_names, people_of, touches
from data_pipeline.text.segment_zh import Word, plain, segment
from data_pipeline.text.sentences import starts_of
from data_pipeline.text.words import either, words

_OPENS_WRONGLY = re.compile(r".*[将被把]|[由到向在与和被对原该经及]|.{1,4}[向与和]")
_IN_PLACE = re.compile(
    r"(?:在|位于|到达|前往|来自|出生于|生于|抵达|从|至|往|赴|迁到|迁往|境内的|首都|城市|省|国)$"
)
_COUNTRIES, _PROVINCES = frozenset(words("countries_zh")), frozenset(words("provinces_zh"))
_CONTINENTS = frozenset(words("continents_zh"))
_PLACE_ENDS = (
    "市县镇村", "省州邦郡", "区", "山岭峰", "岛", "河江", "湖", "海洋", "港湾", "路街道", "桥", "寺庙",
    "站",
)  # fmt: skip
_ENDS = "".join(_PLACE_ENDS)
_ORGANISATION = re.compile(rf"(?:{either('organisation_suffixes_zh')})$")
_TITLE_HEAD = re.compile(rf"({either('title_heads_zh')})》$")
_LATIN = re.compile(
    r"(?<![A-Za-z\d-])(?<![A-Za-z] )"
    r"(?:[A-Z][a-zé]+(?: [A-Z]\.)?(?: [A-Z][a-zé]+){1,2}|[A-Z]{2,5})(?![A-Za-z\d-]| [A-Za-z])"
)
_HEAD = re.compile(rf"(?:{either('name_heads_zh')})$")
_IN_ORGANISATIONS = NAME_TAGS | {"n", "j", "vn", "b", "an", "f", "s", "m", "eng"}


def chinese_names(text: str) -> list[Fact]:
    """The names of a Chinese text with their kind in ``form``; names of the same form may be swapped.

    Kinds: title (《》, with its last word if that tells the sort), latin, acronym, foreign (a person),
    anonymous, person, country, continent, province, place (with its ending), organisation (with its ending),
    other (with its last word).
    """
    simple = plain(text)
    if not CJK.search(simple):
        return []
    found: list[Fact] = []
    taken: list[tuple[int, int]] = []

    def add(start: int, end: int, form: str) -> None:
        if is_free(taken, start, end):
            taken.append((start, end))
            if form:
                found.append(Fact("entity", text[start:end], start, end, form))

    for match in re.finditer(r"《[^《》]{1,20}》", simple):
        head = _TITLE_HEAD.search(match[0])
        add(*match.span(), f"title {head[1]}" if head else "title")
    for match in _LATIN.finditer(simple):
        add(*match.span(), "latin" if " " in match[0] else "acronym")
    for start, end in dotted_names(simple):
        add(start, end, "foreign" if "·" in text[start:end] or end - start > 4 else "")
    for match in ANONYMOUS.finditer(simple):
        add(*match.span(), "anonymous")
    for start, end, form in _organisations(simple):
        add(start, end, form)
    people = people_of(simple)
    for name in sorted(people, key=lambda name: (-len(name), name)):
        for start in starts_of(name, simple):
            add(start, start + len(name), people[name])
    for word in segment(text):
        if word.tag in NAME_TAGS:
            add(word.start, word.end, _form(simple, word))
    return sorted(found, key=lambda fact: fact.start)


def _form(text: str, word: Word) -> str:
    """The kind of a tagged word; empty if it is not surely a whole name."""
    name = word.text
    if len(name) < 2 or name in NOT_NAMES or touches(text, word.start, word.end):
        return ""
    if name in _COUNTRIES:
        return "country"
    if name in _CONTINENTS:
        return "continent"
    if name in _PROVINCES:
        return "province"
    if _ORGANISATION.search(name):
        return _organisation_form(name)
    if word.tag == "ns" and _is_place(text, name):
        return place_form(name)
    head = _HEAD.search(name)
    if word.tag == "nz" and head and len(name) > len(head[0]):
        return f"other {head[0]}"
    return ""


def place_form(name: str) -> str:
    """The kind of place, by its ending: a town may replace a village, but not a lake."""
    group = next((group for group in _PLACE_ENDS if len(name) > 2 and name[-1] in group), "")
    return f"place {group[:1]}".strip()


def _is_place(text: str, name: str) -> bool:
    """Is a name surely a place: at least two of a place's ending, a known word, and a context of place?"""
    ends = len(name) > 2 and name[-1] in _ENDS
    if ends and _known(name):
        return True
    return (ends or _known(name)) and any(
        _IN_PLACE.search(text[max(0, at - 4) : at]) for at in starts_of(name, text)
    )


def _known(name: str) -> bool:
    import rjieba

    return rjieba.has_word(name)


def _organisations(text: str) -> Iterator[tuple[int, int, str]]:
    """Organisations of several words, from a name to an ending: 北京市第一中级人民法院."""
    run: list[Word] = []
    for word in (*segment(text), Word("。", "x", len(text), len(text))):
        fits = word.tag in _IN_ORGANISATIONS and word.text.strip()
        if fits and (not run or run[-1].end == word.start):
            run.append(word)
            continue
        yield from _organisation(run, text)
        run = [word] if fits else []


def _organisation(run: list[Word], text: str) -> Iterator[tuple[int, int, str]]:
    ends = [at for at, word in enumerate(run) if _ORGANISATION.search(word.text)]
    if not ends:
        return
    last = ends[-1]
    first = next((at for at, word in enumerate(run) if word.tag in NAME_TAGS and len(word.text) > 1), None)
    if first is None or first > last:
        return
    start, end = run[first].start, run[last].end
    if text[:start].endswith(("·", "•", "‧")):
        return
    whole = not _OPENS_WRONGLY.match(text[start:end]) and run[first].text not in NOT_NAMES
    form = _organisation_form(text[start:end]) if whole and 4 <= end - start <= 18 and len(ends) == 1 else ""
    yield start, end, form


def _organisation_form(name: str) -> str:
    found = _ORGANISATION.search(name)
    return f"organisation {found[0]}" if found else ""
