"""Names of people in Chinese text: by surname and given name, by sound, or anonymised by a court."""

import re
from collections.abc import Iterator

from data_pipeline.text.segment_zh import Word, segment, word_after, word_before
from data_pipeline.text.words import characters, either, words

_SURNAME = rf"(?:{either('double_surnames_zh')}|[{characters('surnames_zh')}])"
_SURNAMES = re.compile(_SURNAME)
_PERSON = re.compile(rf"{_SURNAME}[\u4e00-\u9fff]{{1,2}}")
_NOT_GIVEN = re.compile(rf"[{characters('not_in_given_names_zh')}]")
_MEASURE = rf"(?:{either('units_zh')}|[号日月时点{characters('measures_zh')}])"
_SOUND = characters("sounds_zh")
_FOREIGN = re.compile(rf"[{_SOUND}]{{2,8}}")
# Courts anonymise names: 王某, 张某甲, 李x1, 杨111.
ANONYMOUS = re.compile(
    rf"[{characters('surnames_zh')}](?:某某|某[甲乙丙丁]?|[xX×]{{1,2}}\d{{0,3}}"
    rf"|(?<![高万石段章方汤金毛钱龙马])\d{{1,3}}(?![\d%％.,:：]|{_MEASURE}))"
)
_DOTTED = re.compile(r"(?<=[\u4e00-\u9fff])[·•‧・](?=[\u4e00-\u9fff])")
_TITLE = re.compile(rf"(?:{either('titles_zh')})")
_BORN = re.compile(r"[，（(]?\s?\d{3,4}年[^，。]{0,8}(?:生|去世|逝)")
_WEAK_SURNAMES = characters("weak_surnames_zh")
_DOES = frozenset(words("person_verbs_zh"))
_ROLE = re.compile(
    r".*[长师员生友者士家人弟兄女妻夫父母子商匠医官帝王后手告犯总监理任席统相臣将尉记警工僧爵侯督使服]$"
)
NAME_TAGS = frozenset(("nr", "nrt", "ns", "nt", "nz"))
"""Parts of speech of names."""
NOT_NAMES = frozenset(words("not_names_zh"))
"""Words that the tagger wrongly takes for names."""
_BESIDE = NAME_TAGS | {"eng", "j", "ng", "g"}
_GOES_ON = frozenset((*"人族语系队军城国裔籍式派型科属目区县市镇村州省郡湖山河江岛路街桥寺", "大陆", "本土"))
_AFTER_NAMES = frozenset(["x", "p", "c", "uj", "ul", "u", "d", "m", "q", "y", "r"])


def people_of(text: str) -> dict[str, str]:
    """Names of people with their form (``person`` or ``foreign``), if treated as a person somewhere."""
    people: dict[str, str] = {}
    for word in segment(text):
        if word.tag in ("nr", "nrt", "nrfg") or (len(word.text) == 1 and _SURNAMES.fullmatch(word.text)):
            for start, end, form in _full_names(text, word):
                name = text[start:end]
                if (
                    name not in people
                    and name not in NOT_NAMES
                    and _acts(text, start, end)
                    and not touches(text, start, end)
                ):
                    people[name] = form
                    break
    return people


def _full_names(text: str, word: Word) -> Iterator[tuple[int, int, str]]:
    """Candidates for the whole name that begins with a word, the likeliest first.

    The tagger cuts many names in two: 韩映 and 雪, 戚 and 长宁. What always follows the first part is of it.
    """
    name = word.text
    if len(name) > 1 and word.tag != "nr" and _FOREIGN.fullmatch(name):
        yield word.start, word.end, "foreign"
        return
    rest = word_after(text, word.end)
    if rest and rest.start == word.end and rest.tag not in _AFTER_NAMES:
        whole = name + rest.text
        if _is_full_name(whole) and (len(name) == 1 or text.count(name) == text.count(whole)):
            yield word.start, rest.end, "person"
    if word.tag == "nr" and _is_full_name(name) and not (_FOREIGN.fullmatch(name) and len(name) > 2):
        yield word.start, word.end, "person"
    elif len(name) > 1 and _FOREIGN.fullmatch(name):
        yield word.start, word.end, "foreign"


def form_of_person(name: str) -> str:
    """The form of a person's name: ``foreign`` (written by sound), ``person``, or empty if it is none."""
    if all(_FOREIGN.fullmatch(part) or len(part) == 1 for part in _DOTTED.split(name)) and len(name) > 1:
        return "foreign"
    return "person" if _is_full_name(name) and name not in NOT_NAMES else ""


def _is_full_name(name: str) -> bool:
    """Is it a surname, followed by what could be a given name?"""
    if not _PERSON.fullmatch(name) or name[0] == "向":  # 向 is far more often a preposition
        return False
    return not _NOT_GIVEN.search(name[1:]) and name[-1] not in "寺庙宫殿州岛峰桥"


def _acts(text: str, start: int, end: int) -> bool:
    """Is this mention treated as a person: with a title, an office, or something that only people do?"""
    before, after = word_before(text, start), word_after(text, end)
    if after and (_TITLE.match(text, after.start) or after.text in _DOES):
        return True
    if _BORN.match(text, end) or (end - start == 3 and _often(text, start, end)):
        return True
    office = before and before.end == start and before.tag in ("n", "nr", "nz") and len(before.text) > 1
    return bool(office and before and _ROLE.fullmatch(before.text))


def dotted_names(text: str) -> Iterator[tuple[int, int]]:
    """Spans of foreign names with dots (艾萨克·牛顿); each part extends as far as its words sound foreign."""
    last = 0
    for match in _DOTTED.finditer(text):
        if match.start() < last:
            continue
        start = end = match.start()
        while (word := word_before(text, start)) and word.end == start and _sounds(word):
            start = word.start
        while _DOTTED.match(text, end):
            dot, end = end, end + 1
            while (word := word_after(text, end)) and word.start == end and _sounds(word):
                end = word.end
            if end == dot + 1:
                end = start  # a dot with nothing after it: half a name
                break
        end -= text[end - 1] in "饰以在与和为是于被由对向从将"  # sometimes taken for part of the name
        if start < match.start() and end > match.end():
            last = end
            yield start, end


def _sounds(word: Word) -> bool:
    """Is a word written by sound, like parts of foreign names?"""
    return (word.tag in ("nr", "nrt", "nrfg") and len(word.text) > 1) or (
        word.tag not in ("v", "p", "c", "d", "uj", "r") and all(char in _SOUND for char in word.text)
    )


def touches(text: str, start: int, end: int) -> bool:
    """Is another name, or part of one, right next to a span?"""
    before, after = word_before(text, start), word_after(text, end)
    if before and before.end == start and (before.tag in _BESIDE or before.text in "-–—·•‧・之"):
        return True
    if not after or after.start != end:
        return False
    return after.tag in _BESIDE or after.text in "-–—·•‧・之" or after.text in _GOES_ON


def _often(text: str, start: int, end: int) -> bool:
    """Does what looks like a full name occur at least twice in the text? By chance that is rare."""
    return text[start] not in _WEAK_SURNAMES and text.count(text[start:end]) > 1
