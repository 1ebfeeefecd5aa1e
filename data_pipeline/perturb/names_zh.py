"""Proper names in Chinese text, by type and as whole words: a tagger proposes, rules correct it.

The tagger (jieba's dictionary and hidden Markov model) knows persons, places and organisations, and errs on
words it has not seen. So a person must have a surname and be treated as one somewhere in the text, a place must
be a known word or end as places do, and what touches another name is left alone, since it may be a part of it.
"""

import re
from collections.abc import Iterator

from data_pipeline.perturb.fact import Fact, is_free
from data_pipeline.perturb.segment_zh import (
    Word,
    has_chinese,
    places_of,
    plain,
    segment,
    word_after,
    word_before,
)
from data_pipeline.perturb.words import characters, either, words

_SURNAME = rf"(?:{either('double_surnames_zh')}|[{characters('surnames_zh')}])"
_SURNAMES = re.compile(_SURNAME)
_PERSON = re.compile(rf"{_SURNAME}[\u4e00-\u9fff]{{1,2}}")
_NOT_GIVEN = re.compile(rf"[{characters('not_in_given_names_zh')}]")
_MEASURE = rf"(?:{either('units_zh')}|[号日月时点{characters('measures_zh')}])"
_SOUND = characters("sounds_zh")
_FOREIGN = re.compile(rf"[{_SOUND}]{{2,8}}")
# Courts make names unreadable: 王某, 张某甲, 李x1, 杨111.
_ANONYMOUS = re.compile(
    rf"[{characters('surnames_zh')}](?:某某|某[甲乙丙丁]?|[xX×]{{1,2}}\d{{0,3}}|(?<![高万石段章方汤金毛钱龙马])\d{{1,3}}(?![\d%％.,:：]|{_MEASURE}))"
)
_DOTTED = re.compile(r"(?<=[\u4e00-\u9fff])[·•‧・](?=[\u4e00-\u9fff])")
_TITLE = re.compile(rf"(?:{either('titles_zh')})")
_OPENS_WRONGLY = re.compile(r"[由到向在与和被对原该经及]|.{1,4}[向与和]")
_AFTER_NAMES = frozenset("x p c uj ul u d m q y r".split())
_DOES = frozenset(words("person_verbs_zh"))
_ROLE = re.compile(
    r".*[长师员生友者士家人弟兄女妻夫父母子商匠医官帝王后手告犯总监理任席统相臣将尉记警工僧爵侯督使服]$"
)
_IN_PLACE = re.compile(
    r"(?:在|位于|到达|前往|来自|出生于|生于|抵达|从|至|往|赴|迁到|迁往|境内的|首都|城市|省|国)$"
)
_COUNTRIES, _PROVINCES = frozenset(words("countries_zh")), frozenset(words("provinces_zh"))
_CONTINENTS, _NOT_NAMES = frozenset(words("continents_zh")), frozenset(words("not_names_zh"))
_PLACE_ENDS = (
    "市县镇村",
    "省州邦郡",
    "区",
    "山岭峰",
    "岛",
    "河江",
    "湖",
    "海洋",
    "港湾",
    "路街道",
    "桥",
    "寺庙",
    "站",
)
_ENDS = "".join(_PLACE_ENDS)
_ORGANISATION = re.compile(rf"(?:{either('organisation_suffixes_zh')})$")
_TITLE_HEAD = re.compile(rf"({either('title_heads_zh')})》$")
_LATIN = re.compile(
    r"(?<![A-Za-z\d-])(?<![A-Za-z] )(?:[A-Z][a-zé]+(?: [A-Z]\.)?(?: [A-Z][a-zé]+){1,2}|[A-Z]{2,5})(?![A-Za-z\d-]| [A-Za-z])"
)
_HEAD = re.compile(rf"(?:{either('name_heads_zh')})$")
_IN_NAMES = frozenset(("nr", "nrt", "ns", "nt", "nz"))
_BESIDE = _IN_NAMES | {"eng", "j", "ng", "g"}
_GOES_ON = frozenset((*"人族语系队军城国裔籍式派型科属目区县市镇村州省郡湖山河江岛路街桥寺", "大陆", "本土"))
_IN_ORGANISATIONS = _IN_NAMES | {"n", "j", "vn", "b", "an", "f", "s", "m", "eng"}


def chinese_names(text: str) -> list[Fact]:
    """The names of a Chinese text with their kind in ``form``; two names of one form may change places.

    Kinds: title (《》, with its last word where that tells what it is), latin, acronym, foreign (of a person), anonymous, person, country, continent, province, place (with its
    ending), organisation (with its ending), other (with its last word).
    """
    simple = plain(text)
    if not has_chinese(simple):
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
    for start, end in _dotted(simple):
        add(start, end, "foreign" if "·" in text[start:end] or end - start > 4 else "")
    for match in _ANONYMOUS.finditer(simple):
        add(*match.span(), "anonymous")
    for start, end, form in _organisations(simple):
        add(start, end, form)
    people = _people(simple)
    for name in sorted(people, key=lambda name: (-len(name), name)):
        for start in places_of(name, simple):
            add(start, start + len(name), people[name])
    for word in segment(text):
        if word.tag in _IN_NAMES:
            add(word.start, word.end, _form(simple, word))
    return sorted(found, key=lambda fact: fact.start)


def _form(text: str, word: Word) -> str:
    """The kind of a tagged word, empty where it is not sure to be a whole name."""
    name = word.text
    if len(name) < 2 or name in _NOT_NAMES or _touches(text, word.start, word.end):
        return ""
    if name in _COUNTRIES:
        return "country"
    if name in _CONTINENTS:
        return "continent"
    if name in _PROVINCES:
        return "province"
    if _ORGANISATION.search(name):
        return _organisation_form(name)
    if word.tag == "ns" and _known(name) and _is_place(text, name):
        return place_form(name)
    head = _HEAD.search(name)
    if word.tag == "nz" and head and len(name) > len(head[0]):
        return f"other {head[0]}"
    return ""


def place_form(name: str) -> str:
    """The kind of place, by its ending: a town may stand for a village, but not for a lake."""
    group = next((group for group in _PLACE_ENDS if len(name) > 2 and name[-1] in group), "")
    return f"place {group[:1]}".strip()


def _is_place(text: str, name: str) -> bool:
    """Does a name end as places do, or is it a place where it stands somewhere?"""
    ends = len(name) > 2 and name[-1] in _ENDS
    return ends or any(_IN_PLACE.search(text[max(0, at - 4) : at]) for at in places_of(name, text))


def _known(name: str) -> bool:
    import rjieba

    return rjieba.has_word(name)


def _touches(text: str, start: int, end: int) -> bool:
    """Does another name, or a part of one, stand right beside a stretch?"""
    before, after = word_before(text, start), word_after(text, end)
    if before and before.end == start and (before.tag in _BESIDE or before.text in "-–—·•‧・之"):
        return True
    if not after or after.start != end:
        return False
    return after.tag in _BESIDE or after.text in "-–—·•‧・之" or after.text in _GOES_ON


def _dotted(text: str) -> Iterator[tuple[int, int]]:
    """Foreign names written with dots: 艾萨克·牛顿, each part as far as its words sound foreign."""
    last = 0
    for match in _DOTTED.finditer(text):
        if match.start() < last:
            continue
        start, end = match.start(), match.end()
        while (word := word_before(text, start)) and word.end == start and _sounds(word):
            start = word.start
        at = match.start()
        while True:
            end = at + 1
            while (word := word_after(text, end)) and word.start == end and _sounds(word):
                end = word.end
            if end == at + 1:
                end = start  # a dot with nothing behind it: half a name
                break
            if end < len(text) and _DOTTED.match(text, end):
                at = end
                continue
            break
        if start < match.start() and end > match.end():
            last = end
            yield start, end


def _sounds(word: Word) -> bool:
    """Is a word written by sound, as parts of foreign names are?"""
    return word.tag in ("nrt", "nrfg") or (
        word.tag not in ("v", "p", "c", "d", "uj", "r") and all(char in _SOUND for char in word.text)
    )


def _organisations(text: str) -> Iterator[tuple[int, int, str]]:
    """Organisations of several words, from a name to an ending: 北京市第一中级人民法院."""
    run: list[Word] = []
    for word in (*segment(text), Word("。", "x", len(text), len(text))):
        inside = (
            word.tag in _IN_ORGANISATIONS and word.text.strip() and (not run or run[-1].end == word.start)
        )
        if inside:
            run.append(word)
            continue
        yield from _organisation(run, text)
        run = [word] if word.tag in _IN_ORGANISATIONS and word.text.strip() else []


def _organisation(run: list[Word], text: str) -> Iterator[tuple[int, int, str]]:
    ends = [at for at, word in enumerate(run) if _ORGANISATION.search(word.text)]
    if not ends:
        return
    last = ends[-1]
    first = next((at for at, word in enumerate(run) if word.tag in _IN_NAMES and len(word.text) > 1), None)
    if first is None or first > last:
        return
    start, end = run[first].start, run[last].end
    if text[:start].endswith(("·", "•", "‧")):
        return
    whole = not _OPENS_WRONGLY.match(text[start:end]) and run[first].text not in _NOT_NAMES
    form = _organisation_form(text[start:end]) if whole and 4 <= end - start <= 18 and len(ends) == 1 else ""
    yield start, end, form


def _organisation_form(name: str) -> str:
    found = _ORGANISATION.search(name)
    return f"organisation {found[0]}" if found else ""


def _people(text: str) -> dict[str, str]:
    """Names of people with their form: a surname and a given name, or sounds, treated as a person somewhere."""
    people: dict[str, str] = {}
    for word in segment(text):
        if word.tag in ("nr", "nrt", "nrfg") or (len(word.text) == 1 and _SURNAMES.fullmatch(word.text)):
            for start, end, form in _full_names(text, word):
                name = text[start:end]
                if (
                    name not in people
                    and name not in _NOT_NAMES
                    and _acts(text, start, end)
                    and not _touches(text, start, end)
                ):
                    people[name] = form
                    break
    return people


def _full_names(text: str, word: Word) -> Iterator[tuple[int, int, str]]:
    """What may be the whole of a name that begins with a word, the likeliest first.

    The tagger cuts many names in two: 韩映 and 雪, 戚 and 长宁. What always follows the first part belongs to it.
    """
    name = word.text
    if len(name) > 1 and word.tag != "nr" and _FOREIGN.fullmatch(name):
        yield word.start, word.end, "foreign"
        return
    rest = word_after(text, word.end)
    if rest and rest.start == word.end and rest.tag not in _AFTER_NAMES:
        whole = name + rest.text
        if (
            _PERSON.fullmatch(whole)
            and _given(whole)
            and (len(name) == 1 or text.count(name) == text.count(whole))
        ):
            yield word.start, rest.end, "person"
    if (
        word.tag == "nr"
        and _PERSON.fullmatch(name)
        and _given(name)
        and not (_FOREIGN.fullmatch(name) and len(name) > 2)
    ):
        yield word.start, word.end, "person"
    elif len(name) > 1 and _FOREIGN.fullmatch(name):
        yield word.start, word.end, "foreign"


def form_of_person(name: str) -> str:
    """The form that a name has if it is a person's: written by sound, or a surname and a given name."""
    if all(_FOREIGN.fullmatch(part) or len(part) == 1 for part in _DOTTED.split(name)) and len(name) > 1:
        return "foreign"
    return "person" if _PERSON.fullmatch(name) and _given(name) and name not in _NOT_NAMES else ""


def _given(name: str) -> bool:
    """Could the characters behind a surname be a given name?"""
    return not _NOT_GIVEN.search(name[1:]) and name[0] != "向"  # far oftener a preposition


def _acts(text: str, start: int, end: int) -> bool:
    """Is a name treated as a person where it stands: with a title, an office, or what only people do?"""
    before, after = word_before(text, start), word_after(text, end)
    if after and (_TITLE.match(text, after.start) or after.text in _DOES):
        return True
    office = before and before.end == start and before.tag in ("n", "nr", "nz") and len(before.text) > 1
    return bool(office and before and _ROLE.fullmatch(before.text))
