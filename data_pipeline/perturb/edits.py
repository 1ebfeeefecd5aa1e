"""The edit types: each makes one small wrong change to an answer, or says that it cannot (``None``).

Every edit has the signature ``(answer, document, question, language, rng) -> Edit | None`` and goes through
``_make``, which holds the rules that all share: the new answer differs, is no sentence of the document, keeps
its length, and does not say a thing twice. ``from_document`` is true exactly if the text that was put in
occurs in the document, so that word overlap with the document cannot tell the twins apart.
"""

# ruff: noqa: E501, SIM905 (the tables of word pairs, verbs and phrases read best as blocks)

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from data_pipeline.perturb.facts import (
    CJK,
    GENERIC,
    MONTHS,
    NUMBER_WORDS,
    ORDINAL_WORDS,
    WEEKDAYS,
    ZH_EDGE,
    ZH_NUMERALS,
    Fact,
    find_dates,
    find_entities,
    find_numbers,
)
from judge.types import Language


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed answer: ``replaced`` became ``inserted``; ``change`` says so in one line."""

    answer: str
    edit_type: str
    change: str
    replaced: str
    inserted: str
    from_document: bool


EditFunction = Callable[[str, str, str, Language, Random], Edit | None]
Swap = tuple[int, int, str]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？；])")
_WHAT: dict[str, tuple[str, str]] = {
    "number": ("the number", "数字"),
    "date": ("the date or time", "时间"),
    "year": ("the year", "年份"),
    "entity": ("the name", "名称"),
    "negation": ("the polarity of the statement:", "肯定与否定："),
    "comparative": ("the direction word", "方向词"),
    "addition": ("the detail", "细节"),
}


def occurs(text: str, document: str) -> bool:
    """Does ``text`` stand in ``document`` as whole words and numbers (letter case aside)?"""
    if not text:
        return False
    left = r"(?<![A-Za-z0-9])(?<!\d[.,])" if re.match(r"[A-Za-z0-9]", text) else ""
    right = r"(?![A-Za-z0-9])(?![.,]\d)" if re.search(r"[A-Za-z0-9]$", text) else ""
    return re.search(left + re.escape(text) + right, document, re.I) is not None


def _same(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _length_ok(old: str, new: str) -> bool:
    return abs(len(new) - len(old)) <= max(12, 0.2 * len(old))


def _make(
    kind: str, answer: str, document: str, language: Language, swaps: list[Swap], what: str = ""
) -> Edit | None:
    """Apply ``swaps`` (start, end, text) from the right, and refuse what is no clean wrong answer."""
    new = answer
    for start, end, text in sorted(swaps, reverse=True):
        before = new[:start]
        if text[:1].islower() and answer[start : start + 1].isupper() and _at_start(before):
            text = text[0].upper() + text[1:]
        if language == "en":
            article = re.search(r"\b([Aa])n? $", before)
            if article and article[0].strip() in ("a", "an", "A", "An"):
                before = before[: article.start()] + article[1] + ("n " if _vowel(text) else " ")
        new = before + text + new[end:]
    start, end, inserted = swaps[0]
    replaced = answer[start:end]
    if _same(new) == _same(answer) or not _length_ok(answer, new) or _same(new) in _same(document):
        return None
    if re.search(rf"(?<!\w)({re.escape(inserted)})\W+(?:(?:and|or|to|和|与|至|到)\W*)?\1(?!\w)", new, re.I):
        return None
    label = _WHAT[what or kind]
    if language == "zh":
        change = f"{label[1]}“{replaced}”被改成“{inserted}”"
    else:
        change = f"{label[0]} '{replaced}' was changed to '{inserted}'"
    return Edit(new, kind, change, replaced, inserted, occurs(inserted, document))


def _at_start(before: str) -> bool:
    return not before.strip() or before.rstrip(' "“(').endswith((".", "!", "?", ":", "\n"))


def _vowel(text: str) -> bool:
    return bool(
        re.match(r"(?:[aeiou](?!ni[vtqo]|ne\b|u)|hour|hono|heir|8|11(?!\d)|18(?!\d)|11,|18,)", text, re.I)
    )


def _listed(first: str, second: str, document: str) -> bool:
    """Are the two joined by "and", "or" or commas somewhere, so that what holds of one may hold of both?"""
    joint = r"(?:\s*(?:,|;|/|\(|、|，|和|与|及|或|以及|\band\b|\bor\b|&)\s*(?:and|or|和|与)?\s*)"
    item = r"(?:[^\s,.;、，。；和与]+(?: [^\s,.;]+){0,2})"
    for one, two in ((first, second), (second, first)):
        pattern = rf"{re.escape(one)}(?: [a-z]+)?(?:{joint}{item}){{0,4}}{joint}(?:the |a |in |by |on )?{re.escape(two)}"
        if re.search(pattern, document):
            return True
    return False


def _choose(
    kind: str,
    answer: str,
    document: str,
    language: Language,
    rng: Random,
    options: Iterable[tuple[float, Fact, str]],
) -> Edit | None:
    """Try swaps, better-ranked first and random within a rank, until one makes a clean edit."""
    ranked = sorted(options, key=lambda item: (item[1].start, item[2]))
    rng.shuffle(ranked)
    for _, fact, text in sorted(ranked, key=lambda item: item[0]):
        what = "year" if fact.form == "year" else kind
        if edit := _make(kind, answer, document, language, [(fact.start, fact.end, text)], what):
            return edit
    return None


# --- numbers and dates -------------------------------------------------------------------------------------


def _foreign(answer: str, document: str) -> bool:
    """Is the document in another language (a translation)? Then only digits can be compared."""
    return bool(CJK.search(answer)) != bool(CJK.search(document))


@lru_cache(maxsize=32)
def _facts(kind: str, document: str, language: Language) -> tuple[Fact, ...]:
    """The facts of a document; kept, since every edit of a sample asks for them again."""
    finders = {"date": find_dates, "number": find_numbers, "entity": find_entities}
    return tuple(finders[kind](document, language))


def _document_facts(kind: str, answer: str, document: str, language: Language) -> tuple[Fact, ...]:
    if _foreign(answer, document):
        language = "en" if language == "zh" else "zh"
    return _facts(kind, document, language)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _near_number(fact: Fact, rng: Random) -> Iterator[str]:
    """Numbers of the same shape as ``fact``: as many digits, the same trailing zeros, commas and decimals."""
    words: tuple[str, ...] = {
        "word": NUMBER_WORDS[:11],
        "ordinal-word": ORDINAL_WORDS[:6],
        "numeral": tuple(ZH_NUMERALS[1:]),
        "ordinal-numeral": tuple(ZH_NUMERALS[:6]),
    }.get(fact.form, ())
    if words:
        text = fact.text.lower()
        at = words.index(text) if text in words else -1
        near = [word for word in words[max(0, at - 3) : at + 4] if word != text] if at >= 0 else []
        rng.shuffle(near)
        yield from near
        return
    match = re.search(r"\d[\d,.]*\d|\d", fact.text)
    if not match or fact.form.endswith("ord"):
        return
    digits = _digits(match.group())
    kept = len(digits) - len(digits.rstrip("0")) if "." not in match.group() else 0
    core = digits[: len(digits) - kept]
    if not core:
        return
    low, high = 10 ** (len(core) - 1), 10 ** len(core) - 1
    low = 2 if low == 1 else low
    value = int(core)
    for _ in range(8):
        new = rng.randint(max(low, int(value * 0.6)), max(low, min(high, int(value * 1.6) + 2)))
        fresh = iter((str(new) + "0" * kept).rjust(len(digits), "0"))
        if new != value and (new % 10 or core.endswith("0")):
            shaped = "".join(next(fresh, "") if char.isdigit() else char for char in match.group())
            yield fact.text[: match.start()] + shaped + fact.text[match.end() :]


def number(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another number of the document of the same form, best with the same unit; else a near one."""
    own = find_numbers(answer, language)
    theirs = _document_facts("number", answer, document, language)
    options: list[tuple[float, Fact, str]] = []
    for fact in own:
        if _digits(fact.text).lstrip("0") == "1" and language == "en":
            continue
        asked = 1.5 if occurs(fact.text, question) else 0.0
        for other in theirs:
            if other.form == fact.form and _fits(fact.text, other.text, answer, question, document):
                gap = abs(len(_digits(fact.text)) - len(_digits(other.text)))
                same = fact.unit != "" and other.unit == fact.unit
                if _plausible(fact, other, same) and not _overflows(answer, fact, other.text):
                    if _digits(other.text) == "1" and language == "en":
                        continue
                    options.append((asked + (0 if same else 1 + gap), fact, other.text))
        for text in _near_number(fact, rng):
            if text.casefold() in document.casefold() or occurs(text, answer + question):
                continue
            if not _overflows(answer, fact, text):
                options.append((asked + 8, fact, text))
    return _choose("number", answer, document, language, rng, options)


def _value(text: str) -> float:
    digits = re.sub(r"[^\d.]", "", text).strip(".")
    return float(digits) if re.fullmatch(r"\d+(?:\.\d+)?", digits) else 0.0


def _plausible(fact: Fact, other: Fact, same_unit: bool) -> bool:
    """Is the other number of a size that could stand here? Of another unit it must be much nearer."""
    one, two = _value(fact.text), _value(other.text)
    if not one or not two:
        return True
    ratio = max(one, two) / min(one, two)
    return ratio <= (20 if same_unit else 5)


def _overflows(answer: str, fact: Fact, text: str) -> bool:
    """Would the part be larger than the whole ("71 of the 52 votes")?"""
    part = re.search(r"(\d[\d,.]*) (?:out )?of (?:the |its |a total of )?$", answer[: fact.start])
    whole = re.match(r" (?:\w+ )?(?:out )?of (?:the |its |a total of )?(\d[\d,.]*)", answer[fact.end :])
    if part:
        return _value(text) <= _value(part[1])
    return bool(whole and _value(text) >= _value(whole[1]))


def _fits(old: str, new: str, answer: str, question: str, document: str) -> bool:
    if _same(old) == _same(new) or occurs(new, answer) or occurs(new, question):
        return False
    return not _listed(old, new, document)


def _near_date(fact: Fact, rng: Random) -> Iterator[str]:
    """Dates of the same sub-kind, near to ``fact``."""
    text, form = fact.text, fact.form
    if form.startswith("weekday"):
        for name in (*WEEKDAYS, *"一二三四五六日"):
            if name in text:
                names = list(WEEKDAYS) if name in WEEKDAYS else list("一二三四五六日")
                yield text.replace(name, rng.choice([other for other in names if other != name]))
                return
    elif form == "month" and text in MONTHS:
        yield from rng.sample(MONTHS, 3)
    elif form == "decade":
        match = re.search(r"\d0(?=s|年)", text)
        if match:
            yield text[: match.start()] + rng.choice("23456789") + text[match.start() + 1 :]
    else:
        spots = list(re.finditer(r"\d+", text))
        for _ in range(6):
            if not spots:
                return
            spot = spots[0] if form in ("year", "month", "clock-zh") else rng.choice(spots)
            value, width = int(spot.group()), len(spot.group())
            if form == "year":
                new = value + rng.choice((-12, -7, -5, -4, -3, -2, 2, 3, 4, 5, 7, 12))
            elif form.startswith("clock"):
                new = rng.choice((10, 15, 20, 40, 45, 50)) if spot.start() else rng.randint(1, 12)
            else:
                new = rng.randint(1, 12 if text[spot.end() :].startswith("月") else 28)
            if new > 0 and len(str(new)) <= max(width, 1):
                padded = (
                    str(new).rjust(width, "0")
                    if form.startswith("clock") or spot.group()[0] == "0"
                    else str(new)
                )
                yield text[: spot.start()] + padded + text[spot.end() :]


def date(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another date of the document of the same sub-kind; else a near one."""
    theirs = _document_facts("date", answer, document, language)
    foreign = _foreign(answer, document)
    options: list[tuple[float, Fact, str]] = []
    for fact in find_dates(answer, language):
        asked = 1.5 if occurs(fact.text, question) else 0.0
        for other in theirs:
            text = other.text
            if foreign and fact.form == other.form == "year":
                text = fact.text.replace(_digits(fact.text), _digits(text))
                if _fits(fact.text, text, answer, question, document):
                    options.append((asked, fact, text if text in document else _digits(text) + fact.text[4:]))
            elif other.form == fact.form and _fits(fact.text, text, answer, question, document):
                options.append((asked, fact, text))
        for text in _near_date(fact, rng):
            if (
                text not in document
                and not occurs(text, answer + question)
                and _same(text) != _same(fact.text)
            ):
                options.append((asked + 8, fact, text))
    return _choose("date", answer, document, language, rng, options)


# --- names -------------------------------------------------------------------------------------------------


def _parts(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{2,}", name)} - GENERIC


_PRONOUN = re.compile(r"\b(?:he|she|his|her|him|hers|himself|herself)\b", re.I)


def _article(text: str, start: int) -> bool:
    return text[max(0, start - 4) : start].lower() == "the "


def _related(one: str, two: str) -> bool:
    if CJK.search(one):
        return one in two or two in one or (len(one) > 2 and one[:2] == two[:2])
    return bool(_parts(one) & _parts(two)) or not _parts(one) or not _parts(two)


def entity(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another name of the same kind from the same document, put in for every mention of one in the answer."""
    if _foreign(answer, document):
        return None
    names = _facts("entity", document, language)
    kinds = {name.text: name for name in names}
    options: list[tuple[float, str, str]] = []
    for old, fact in kinds.items():
        spots = _mentions(old, answer, language)
        if not spots or (fact.form == "acronym" and (len(old) < 3 or f"({old}" in answer)):
            continue
        for new, other in kinds.items():
            if other.form != fact.form or len(new) < 2 or _related(old, new) or _known(new, answer, language):
                continue
            if _known(new, question, language) or _listed(old, new, document):
                continue
            if language == "en" and (
                _article(answer, spots[0]) != _article(document, other.start)
                or (fact.form == "other" and len(old.split()) != len(new.split()))
            ):
                continue
            gendered = language == "en" and fact.form.startswith("person") and _PRONOUN.search(answer)
            rank = (1.0 if occurs(old, question) else 0.0) + bool(gendered)
            rank += 0.7 * (fact.form.startswith("person") and other.unit != fact.unit)
            rank += 0.5 * (language == "en" and len(old.split()) != len(new.split()))
            options.append((rank, old, new))
    options.sort()
    rng.shuffle(options)
    for _, old, new in sorted(options, key=lambda item: item[0]):
        swaps: list[Swap] = [(spot, spot + len(old), new) for spot in _mentions(old, answer, language)]
        edit = _make("entity", answer, document, language, swaps)
        if edit and not (language == "en" and any(occurs(part, edit.answer) for part in _parts(old))):
            return edit
    return None


# Names with such an ending can be the tail of a longer name ("纽卡斯尔理工学院").
_ZH_COMMON = re.compile(r"[司学院馆所行社会团市县镇省区村河湖山路街江岛桥港寺站峡湾]$")


def _mentions(name: str, text: str, language: Language) -> list[int]:
    if language == "zh":
        found = [match.start() for match in re.finditer(re.escape(name), text)]
        if _ZH_COMMON.search(name):
            found = [at for at in found if not at or text[at - 1] in ZH_EDGE or not CJK.match(text[at - 1])]
        return found
    pattern = rf"(?<![\w-])(?<![A-Z]\w\w )(?<![A-Za-z]\. ){re.escape(name)}(?!\w|-\w| [A-Z]|\.\w)"
    return [
        m.start()
        for m in re.finditer(pattern, text)
        if not re.search(r"[A-Z]\w+ (?:of )?$", text[: m.start()])
        or _at_start(re.sub(r"\w+ (?:of )?$", "", text[: m.start()]))
    ]


def _known(name: str, text: str, language: Language) -> bool:
    if language == "zh":
        return name in text
    return any(occurs(part, text) for part in _parts(name))


# --- comparatives ------------------------------------------------------------------------------------------

_PAIRS_EN = """more/less|more/fewer|higher/lower|highest/lowest|before/after|increased/decreased|increase/decrease
increases/decreases|increasing/decreasing|rose/fell|rises/falls|larger/smaller|largest/smallest|bigger/smaller|biggest/smallest
longer/shorter|longest/shortest|earlier/later|earliest/latest|above/below|cheaper/more expensive|the most/the least
at least/at most|better/worse|best/worst|faster/slower|fastest/slowest|older/younger|oldest/youngest|taller/shorter
warmer/colder|warmest/coldest|wider/narrower|deeper/shallower|heavier/lighter|stronger/weaker|upstream/downstream
majority/minority|northern/southern|eastern/western|north/south|east/west|north-east/south-west|thicker/thinner
north-west/south-east|northward/southward|maximum/minimum|inside/outside|indoors/outdoors|improved/worsened|reduced/raised
early/late|first/last|greater/smaller|over/under|newest/oldest|widened/narrowed|doubled/halved|gains/losses|opened/closed
opens/closes|begins/ends|began/ended|starts/ends|started/ended|start/end|morning/evening|mornings/evenings|winter/summer
spring/autumn|weekly/monthly|daily/weekly|always/rarely|often/rarely|inner/outer|bought/sold|accepted/rejected
approved/rejected|allowed/forbidden|permitted/forbidden|dry/wet|public/private|includes/excludes|included/excluded
safe/unsafe|possible/impossible|high/low|positive/negative|similar/different|many/few|strong/weak|gained/lost|cheap/expensive
won/lost|minutes/hours|days/weeks|months/years|left/right"""
_PAIRS_ZH = """高于/低于|增加/减少|上升/下降|之前/之后|早于/晚于|多于/少于|最大/最小|以上/以下|以前/以后|提高/降低|超过/不足|最高/最低
最多/最少|最早/最晚|更高/更低|更大/更小|更多/更少|更快/更慢|更早/更晚|更长/更短|最长/最短|南部/北部|东部/西部|南侧/北侧|东侧/西侧|南岸/北岸
东岸/西岸|以南/以北|以东/以西|上游/下游|东南/西北|东北/西南|上午/下午|至少/至多|扩大/缩小|加快/放慢|上涨/下跌|增长/下滑|延长/缩短|早上/晚上
先于/后于|大于/小于|长于/短于|快于/慢于|好于/差于|优于/劣于|开放/关闭|开始/结束|进口/出口|免费/收费|室内/室外|左侧/右侧|内部/外部|左岸/右岸
支持/反对|同意/拒绝|接受/拒绝|允许/禁止|盈利/亏损|获胜/落败|冬季/夏季|春季/秋季|冬天/夏天|春天/秋天|东面/西面|南面/北面|升高/降低|缩短为/延长为
增至/减至|升至/降至|前/后|较高/较低|较大/较小|较多/较少|顶部/底部|早/晚|多/少|高/低|快/慢|长/短|重/轻|南/北|东/西|分钟/小时|每天/每周|年初/年底"""
# What must stand right before and right after a word for the swap to be safe; words not named need nothing.
_AGE = r" (?:year|week|month|night|time|summer|winter|spring|decade|century)"
_NEEDS: dict[str, tuple[str, str]] = {
    "first": (r"\b(?:the|his|her|its|their|was|were|came) $", r"(?! name| aid|-| of all| lady)"),
    "last": (r"\b(?:the|his|her|its|their|was|came) $", rf"(?!{_AGE}| name|-| \d| few| two| three)"),
    "over": (
        r"\b(?:just|well|for|by|of|costs?|takes?|took|has|have|had|weighs?|is|are|was|were|with|after) $",
        r" (?:the age|\d)",
    ),
    **dict.fromkeys(
        ("approved", "accepted", "rejected"),
        (
            r"\b(?:was|were|is|are|been|be|not|has|have|had|it|they|he|she|who|which|[Cc]ouncil|[Cc]ommittee|[Bb]oard|[Cc]ourt|[A-Z]\w+) $",
            "",
        ),
    ),
    "under": ("", r" (?:the age|\d|[a-z]+ty )"),
    "left": (r"\b(?:the|its|his|her) $", r" (?:bank|side|hand|wing|shore|arm|leg)|-hand"),
    "right": (r"\b(?:the|its|his|her) $", r" (?:bank|side|hand|wing|shore|arm|leg)|-hand"),
    "early": ("", r" (?:in|on|\d|January|[A-Z]|spring|summer|autumn|winter|morning)"),
    "late": (r"(?<!the )$", r" (?:in|on|\d|spring|summer|autumn|winter)"),
    "later": (r"(?:\b(?:years?|days?|months?|weeks?|hours?|minutes?|was|is|were|much|even|no) |^)$", ""),
    "longer": (r"(?<!no )(?<!any )$", ""),
    "more": (r"(?<!once )(?<!no )(?<!any )(?<!some )(?<!and )(?<!\d )$", r" (?!or\b|and\b|expensive)\w"),
    "less": (r"(?<!no )(?<!or )$", r" \w"),
    "fewer": (r"(?<!no )$", r" \w"),
    "the most": ("", r" (?!of\b|part|recent)\w"),
    "before": ("", r" (?!long\b)\w"),
    "after": (
        r"(?<!named )(?<!looks )(?<!looked )(?<!looking )(?<!soon )(?<!called )(?<!care )$",
        r" (?!all\b)\w",
    ),
    "above": ("", r"(?! all\b)"),
    "many": (r"(?<!how )(?<!as )(?<!so )(?<!too )$", r" (?!of\b)\w"),
    "few": (r"(?<!a )(?<!the )$", r" (?!of\b)\w"),
    "high": (r"(?<!-)$", r"(?! school| street| court| road|-)"),
    "low": ("", r"(?!-)"),
    "possible": (r"\b(?:is|was|be|not|made|it) $", ""),
    "best": (r"(?<!at )$", r"(?!-| known| of)"),
    "better": ("", r"(?!-| known)"),
    "lost": ("", r" (?:the (?:match|election|game|war|battle|case|race|final)|\d)"),
    "gained": ("", r" \d"),
    "won": ("", r" (?!over)\w"),
    "start": (r"\b(?:the|at|from) $", r"(?! to\b)"),
    "end": (r"\b(?:the) $", r" of\b"),
    "closed": ("", r"(?!-| to\b| with\b)"),
    "spring": (r"\b(?:in|the|of|early|late|this|next|each|every) $", r"(?! water)"),
    "fell": ("", r" (?:by|from|to|slightly|sharply|again|in)\b|[.,]"),
    "rose": ("", r" (?:by|from|to|slightly|sharply|again|in)\b|[.,]"),
    "bought": ("", r" (?:the|a|an|\d|it|its)\b(?!.* from )"),
    "sold": ("", r" (?:the|a|an|\d|it|its)\b(?!.* to )"),
    **dict.fromkeys(("hours", "minutes"), (r"^(?!.*\bhours? [\d:]+ $).*$", r"(?! and\b| \d)")),
    "public": ("", r"(?! holiday)"),
    **dict.fromkeys(("before", "earlier"), ("", r" \w|[.,]")),
    **dict.fromkeys(
        ("began", "begins", "started", "starts", "ended", "ends"),
        ("", r" (?:on|in|at|from|after|before)\b|[.,]"),
    ),
    **dict.fromkeys(("north", "south", "east", "west"), (r"(?<!-)(?<![a-z] and )$", r"(?!-| and | or )")),
    **dict.fromkeys("前后", (r"(?:[年月天周日时]|分钟|小时)$", r"(?:[，。、的；]|$)")),
    **dict.fromkeys("早晚多少高低快慢长短重轻", (r"比.{2,}[^\d最更较多不]$", r"了?约?\d")),
    **dict.fromkeys(
        "南北东西", (r"(?:[向往朝]|(?<=[的在])$)$", r"(?![京方湖河江海洋宁昌]|[\u4e00-\u9fff][市县镇省])")
    ),
    **dict.fromkeys(("开始", "结束"), ("", r"[，。；的]|$")),
    **dict.fromkeys(("超过", "不足"), ("", r"\d|[一二三四五六七八九十百千万]")),
    **dict.fromkeys(("分钟", "小时"), (r"\d$", r"(?!\d)")),
    "每周": ("", r"(?![一二三四五六日天])"),
}


def _table(text: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for pair in text.replace("\n", "|").split("|"):
        one, two = pair.split("/")
        table[one] = (*table.get(one, ()), two)
        table[two] = (*table.get(two, ()), one)
    return table


DIRECTIONS: dict[Language, dict[str, tuple[str, ...]]] = {"en": _table(_PAIRS_EN), "zh": _table(_PAIRS_ZH)}


def _same_case(old: str, new: str) -> str:
    return new[0].upper() + new[1:] if old[0].isupper() else new


def _direction_spots(answer: str, language: Language) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    taken: list[range] = []
    for word in sorted(DIRECTIONS[language], key=lambda item: (-len(item), item)):
        edges = (r"(?<![\w-])", r"(?![\w])") if language == "en" else ("", "")
        for match in re.finditer(edges[0] + re.escape(word) + edges[1], answer, re.I):
            start, end = match.span()
            before, after = answer[:start], answer[end:]
            if any(start < spot.stop and end > spot.start for spot in taken):
                continue
            need = _NEEDS.get(word, ("", ""))
            if not re.search(need[0], before) or not re.match(need[1], after):
                continue
            if language == "en" and match.group()[0].isupper() and not _at_start(before):
                continue
            if language == "en" and (
                match.group().isupper() or (match.group()[0].isupper() and re.match(r" [A-Z]", after))
            ):
                continue
            taken.append(range(start, end))
            yield start, match.group(), DIRECTIONS[language][word]


def comparative(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Turn one direction word (more, before, increased; 高于, 之前) into its opposite."""
    spots = list(_direction_spots(answer, language))
    rng.shuffle(spots)
    head = _YES.match(answer)
    for start, word, opposites in spots:
        after = answer[start + len(word) :]
        options = [text for text in opposites if _number_agrees(word.lower(), text, after)]
        if not options:
            continue
        text = _same_case(word, rng.choice(options))
        if _listed(word.lower(), text.lower(), document) or _listed(word, text, document):
            continue
        swaps: list[Swap] = [(start, start + len(word), text)]
        if head and re.search(rf"{re.escape(word)}|{re.escape(text)}", question, re.I):
            swaps.append((head.start(), head.end(), _FLIPS[head.group()]))
        if edit := _make("comparative", answer, document, language, swaps):
            return edit
    return None


def _number_agrees(word: str, text: str, after: str) -> bool:
    """ "more" becomes "fewer" before a plural or a number, and "less" elsewhere."""
    if word == "more" and text in ("less", "fewer"):
        plural = bool(
            re.match(
                r" (?:than (?:\d|[a-z]+ty\b|half|one)|\w{3,}[^su]s\b|(?:people|children|men|women|staff)\b)",
                after,
            )
        )
        money = bool(re.match(r" than \d[\d,.]* ?(?:%|percent|per cent|m\b|km|k?g\b)", after))
        return (text == "fewer") == (plural and not money)
    return True


# --- negation ----------------------------------------------------------------------------------------------

_IRREGULAR = dict(
    pair.split("/")
    for pair in (
        "begin/began break/broke bring/brought build/built buy/bought catch/caught choose/chose come/came "
        "cost/cost deal/dealt do/did draw/drew drive/drove eat/ate fall/fell feel/felt fight/fought "
        "find/found fly/flew get/got give/gave go/went grow/grew have/had hear/heard hold/held keep/kept "
        "know/knew lead/led learn/learned leave/left lend/lent lose/lost make/made mean/meant meet/met "
        "pay/paid rise/rose ride/rode run/ran say/said see/saw sell/sold send/sent set/set show/showed "
        "sing/sang sink/sank sit/sat sleep/slept speak/spoke spend/spent stand/stood steal/stole "
        "swim/swam take/took teach/taught tell/told think/thought throw/threw understand/understood "
        "wear/wore win/won write/wrote become/became drink/drank hit/hit cut/cut put/put let/let "
        "read/read hide/hid shut/shut spread/spread overcome/overcame undergo/underwent withdraw/withdrew "
        "forget/forgot freeze/froze shake/shook"
    ).split()
)
_REGULAR = (
    "accept act add admit affect agree allow answer appear apply approve arrive ask attend belong "
    "call carry cause change charge claim close collect compete complete confirm contain continue "
    "cover cross damage decide decline decrease deliver depend describe design develop die differ "
    "discover donate enter escape establish exceed expect explain express fail finance finish follow "
    "force gain guide happen heat help hire improve include increase inherit inspect introduce join "
    "kill last launch live look lower manage mark match mention miss move name need notice obtain "
    "occur offer open order own pass permit photograph plan plant play prefer present produce protect "
    "prove provide publish raise reach receive recommend record recover reduce refuse reject release "
    "remain remove repair repeat replace report require resign return reveal save seem serve sign "
    "spend start stay stop study succeed suffer support survive travel treat try turn use vanish "
    "visit vote walk want warn wash watch weigh work worsen"
).split()
_DOUBLED = frozenset(
    ("admit commit occur permit plan prefer stop refer transfer submit drop ship trap travel").split()
)


def _past(base: str) -> str:
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED else "") + "ed"


def _third(base: str) -> str:
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies"
    return base + ("es" if re.search(r"(?:s|x|ch|sh|z)$", base) else "s")


_BASES = sorted({*_IRREGULAR, *_REGULAR})
_PAST = {
    _past(base): base
    for base in _BASES
    if _past(base) not in ("read", "cut", "set", "put", "let", "hit", "shut")
}
_THIRD = {_third(base): base for base in _BASES}
_AUX = r"(?:is|are|was|were|has|have|had|can|could|will|would|should|must|may|might|does|do|did)"
_POLAR = re.compile(
    r"\b(?:any\w*|either|yet|at all|ever|neither|nor|only|no|never|nothing|nobody|none|without|hardly|few|both)\b|n[’']t\b|"
    r"\b(?:at (?:most|least)|up to|until|each|every|all|more than|less than|fewer than|also|still)\b|\bnot\b",
    re.I,
)
_SUBORDINATE = re.compile(
    r"\b(?:before|after|because|since|while|until|when|as|although|though|if|unless|that|so|than|once)\b",
    re.I,
)
_BE_NEXT = re.compile(
    r" (?!not\b|never\b|no\b|only\b|also\b|just\b|still\b|already\b|even\b|about\b|around\b|nearly\b|almost\b|"
    r"at (?:least|most)\b|more\b|over\b|both\b|either\b|to\b|now\b|n't|that\b|because\b|why\b|there\b|it\b|they\b|he\b|she\b)\w"
)
_SUBJECT_END = re.compile(
    r"(?:\b(?!(?:the|a|an|his|her|its|their|of|by|and|or|to|for|with|in|on|at|from|be|been|was|were|is|"
    r"are|has|have|had|not|being|newly|first|which|when|as|than|also|then|never)\b)[\w’'-]+) $",
    re.I,
)


def _clause(answer: str, start: int) -> tuple[str, str]:
    """The words of the clause before and after position ``start``."""
    left = re.split(
        r"[.!?;:,]\s|\n| (?:and|but|because|while|although|since|so|when|after|before|until) ", answer[:start]
    )[-1]
    return left, re.split(r"[.!?;]|\n", answer[start:])[0]


def _dependent(answer: str, start: int) -> bool:
    """Is the place in a clause of cause or time, where a negation would sound odd?"""
    return bool(_SUBORDINATE.search(re.split(r"[.!?;,]\s|\n", answer[:start])[-1]))


def _english_negations(answer: str) -> Iterator[tuple[int, int, str, bool]]:
    """Places where the polarity can be flipped: start, end, new text, and whether a negation goes away."""
    for m in re.finditer(rf"\b({_AUX}) not\b|\b({_AUX})n[’']t\b|\b(can)(?:not|[’']t)\b", answer, re.I):
        aux = m[1] or m[2] or m[3]
        rest = _clause(answer, m.end())[1]
        if _POLAR.search(rest) or re.match(r" (?:only|just|until|all|every|necessarily)\b", rest):
            continue
        if aux.lower() in ("did", "does", "do"):
            verb = re.match(r" ([a-z]+)", answer[m.end() :])
            if not verb or verb[1] in ("have", "be", "so") or verb[1].endswith("ly"):
                continue
            base = verb[1]
            new = _past(base) if aux.lower() == "did" else _third(base) if aux.lower() == "does" else base
            yield m.start(), m.end() + verb.end(), _same_case(m.group(), new), True
        else:
            yield m.start(), m.end(), aux, True
    for m in re.finditer(
        r"\b(is|are|was|were|has|have|had|can|could|will|would) (never|no longer) (\w+)", answer
    ):
        if not _POLAR.search(_clause(answer, m.end())[1]):
            word = {"never": "always" if m[1] in ("is", "are", "can") else "", "no longer": "still"}[m[2]]
            yield m.start(), m.end(), " ".join(filter(None, (m[1], word, m[3]))), True
    for m in re.finditer(rf"\bnever ({'|'.join(_PAST)})\b", answer):
        if not _POLAR.search(_clause(answer, m.end())[1]):
            yield m.start(), m.end(), m[1], True
    for m in re.finditer(r"\bno longer (\w+s)\b", answer):
        yield m.start(), m.end(), f"still {m[1]}", True
    for m in re.finditer(r"\b(Nobody|No one|Neither)\b(?= \w+)", answer):
        if m[1] != "Neither" and not _POLAR.search(_clause(answer, m.end())[1]):
            yield m.start(), m.end(), "Somebody" if m[1] == "Nobody" else "Someone", True
    for m in re.finditer(
        r"\b(is|are|was|were|can|could|will|would|should|must|may|might|has|have|had)\b", answer
    ):
        left, rest = _clause(answer, m.end())[0], answer[m.end() :]
        if not _BE_NEXT.match(rest) or re.search(
            r"\b(?:there|that|which|who|what|not|no|never|if)\b", left, re.I
        ):
            continue
        participle = re.match(r" (?:been\b|\w{2,}(?:ed|own|orn|ought|aken|iven|itten|old|ade|ecome)\b)", rest)
        if m[1] in ("has", "have", "had") and not participle:
            continue
        if (
            _POLAR.search(_clause(answer, m.end())[1])
            or left.strip() == m[1]
            or _dependent(answer, m.start())
        ):
            continue
        yield m.start(), m.end(), f"{m[1]} not", False
    for table, aux in ((_PAST, "did not"), (_THIRD, "does not")):
        for m in re.finditer(r"\b[a-z]+\b", answer):
            base = table.get(m.group())
            if (
                base is None
                or re.match(r"(?:left (?:on|in|over)|used to|set)\b", answer[m.start() :])
                or not _SUBJECT_END.search(answer[: m.start()])
            ):
                continue
            left, rest = _clause(answer, m.start())
            verbs = rf"\b(?:{_AUX}|not|be|been)\b"
            if (
                re.search(verbs, left)
                or re.search(verbs, re.split(r",", rest)[0])
                or re.match(r"\w+ by\b", rest)
            ):
                continue
            if (
                len(left.split()) < 1
                or any(word in _PAST or word in _THIRD for word in left.split())
                or _POLAR.search(rest)
            ):
                continue
            if _dependent(answer, m.start()) or re.search(r"\b(?:both|all|each|every|no)\b", left, re.I):
                continue
            if aux == "does not" and (len(left.split()) < 1 or left.split()[-1].endswith("s")):
                continue
            yield m.start(), m.end(), f"{aux} {base}", False


_ZH_VERBS = (
    "参加|使用|完成|出现|发生|造成|影响|改变|获得|通过|批准|提到|说明|参与|接受|采用|发现|进行|恢复|达到|超过|提供|引起|加入|离开|"
    "邀请|支付|收取|停止|改善|提高|降低|增加|减少|修复|更换|重建|安装|开放|出版|发表|举办|派出|登上|拍摄|记录|受到|签署|购买|出售|关闭|提起|申请|中断|收到|承认|出席|缴纳|公布|要求|占用|设立|雇用|延长|缩短|提供|响"
)
_ZH_REMOVE = (
    (r"从未|从来没有|从没", "曾经"),
    (r"从不", "总是"),
    (r"(?<![经之])不再", "仍然"),
    (r"(?:并没有|没有|并未|未|没)再", "又"),
    (r"(?<!是)不是", "是"),
    (r"不会", "会"),
    (r"(?<![就都也])不能", "能"),
    (r"不可以", "可以"),
    (r"不需要|无需|不必", "需要"),
    (r"不允许", "允许"),
    (r"(?<![也])不得", "可以"),
    (r"无法|未能", "能够"),
    (r"尚未|仍未", "已经"),
    (r"并未|未曾", "已经"),
    (r"(?<![前后来并尚仍])未(?![来必知免能曾])(?=[\u4e00-\u9fff])", "已"),
    (r"不包括", "包括"),
    (r"不提供", "提供"),
    (r"不含", "含"),
    (r"不属于", "属于"),
    (r"不参加", "参加"),
    (r"不同意", "同意"),
    (r"不影响", "影响"),
    (r"不支持", "支持"),
    (r"不收取", "收取"),
    (rf"(?<![直都还也])(?:并没有|没有|没)(?=(?:{_ZH_VERBS}|[\u4e00-\u9fff])过)", ""),
    (rf"(?<![直都还也])(?:并没有|没有|没)({_ZH_VERBS})", r"\1了"),
    (r"没有任何", "有一些"),
    (r"(?<![直都还也])没有(?=明显|显著|直达|专门|固定|足够|居民|铁路|关系|差别|区别|效果)", "有"),
)
_ZH_INSERT = (
    (r"(?<![不但可还就也都于总或凡要若只正便即而算尤更才像])是(?=[\u4e00-\u9fff\d《“])(?![否的])", "不是"),
    (r"(?<![不机社委议协学都博教大开工只才])会(?=[\u4e00-\u9fff]{2})(?![议员长场见计同上后面展])", "不会"),
    (r"(?<![不才就都])可以(?!用)", "不可以"),
    (r"(?<![不才就都])需要", "不需要"),
    (r"(?<![不才所功性只可职])能够", "不能"),
    (r"(?<!不)允许", "不允许"),
    (r"(?<!不)包括", "不包括"),
    (rf"(?<![未没有不起都])({_ZH_VERBS})了", r"没有\1"),
    (r"(?<!不)已经(?![^，。；]*了)", "尚未"),
    (r"(?<![不而早久])已(?=[\u4e00-\u9fff])(?!经|故|有)(?![^，。；]*了)", "未"),
    (r"仍然", "不再"),
    (r"(?<!不)属于", "不属于"),
    (r"(?<!不)适合", "不适合"),
    (r"(?<!不)同意", "不同意"),
    (r"必须", "无需"),
    (r"曾经|曾(?=[\u4e00-\u9fff])(?![祖孙经])", "从未"),
    (r"(?<!不)支持(?!者)", "不支持"),
    (r"(?<!不)提供", "不提供"),
)
_ZH_POLAR = re.compile(r"[不没未无非]")


def _chinese_negations(answer: str) -> Iterator[tuple[int, int, str, bool]]:
    taken: list[range] = []
    for removes, table in ((True, _ZH_REMOVE), (False, _ZH_INSERT)):
        for pattern, text in table:
            for m in re.finditer(pattern, answer):
                if any(m.start() < spot.stop and m.end() > spot.start for spot in taken):
                    continue
                clause = re.split(r"[，。；！？]", answer[: m.start()])[-1]
                rest = re.split(r"[，。；！？]", answer[m.end() :])[0]
                if _ZH_POLAR.search(clause if removes else clause + rest) or (
                    not clause and not removes and m.start()
                ):
                    continue
                taken.append(range(*m.span()))
                yield m.start(), m.end(), m.expand(text), removes


_YES = re.compile(r"(Yes|No)(?=[,.;]| [-–—] |$)|(是的|对的|不是的|不|没有|是|会的|不会)(?=[，。；]|$)")
_FLIPS = {
    "Yes": "No",
    "No": "Yes",
    "是的": "不",
    "对的": "不",
    "不是的": "是的",
    "不": "是的",
    "没有": "是的",
    "是": "不",
    "会的": "不会",
    "不会": "会的",
}


def negation(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Flip the polarity of one statement, by a negation put in or taken out; "Yes," and "No," turn with it."""
    finder = _chinese_negations if language == "zh" else _english_negations
    head = _YES.match(answer)
    spots = [spot for spot in finder(answer) if not head or spot[0] >= head.end()]
    rng.shuffle(spots)
    spots.sort(key=lambda spot: not spot[3])
    yes = [(head.start(), head.end(), _FLIPS[head.group()])] if head else []
    if head and len(answer[head.end() :].strip(" ,.;，。；")) <= 3:
        return _make("negation", answer, document, language, list(yes))
    for start, end, text, removes in spots:
        if head and removes == (head.group() in ("Yes", "是的", "对的", "是", "会的")):
            continue
        swaps: list[Swap] = [(start, end, text), *yes]
        if edit := _make("negation", answer, document, language, swaps):
            return edit
    return None


def removes_negation(edit: Edit) -> bool:
    """Does a negation edit take a negation out (rather than put one in)?"""
    pattern = re.compile(
        r"\bnot\b|n[’']t\b|\bnever\b|\bno\b|\bno longer\b|\bnobody\b|\bcannot\b|[不没未无从]", re.I
    )
    return bool(pattern.search(edit.replaced)) and not pattern.search(edit.inserted)


# --- additions ---------------------------------------------------------------------------------------------

_BANK_EN = """at short notice|after a long dispute|with some difficulty|under a new contract|despite several complaints
after two failed attempts|for reasons of cost|because of a shortage of staff|after a vote of the members|for a second time
with the help of volunteers|on the advice of a lawyer|at the request of the mayor|as part of a larger programme
with money from a private donor|with the support of the local council|by order of the regional court|in the presence of two witnesses
after a change of ownership|after a delay of several weeks|under the supervision of an outside expert|with a loan from a bank
at the suggestion of a neighbour|in spite of the rising costs|with the consent of the owners|on behalf of a foreign company
without the knowledge of the staff|during the school holidays|after a series of complaints|with a grant from the ministry
at the end of a long meeting|because nobody had objected|after talks with the trade union|as a result of a court case
in the middle of a heavy storm|with a team of four assistants|in the first week of the holidays|after the rules had been changed
because the older plan had failed|under pressure from the press|on the advice of an engineer|at the insistence of the owners
, which surprised most observers|, which led to several complaints|, which was later confirmed by an inspector
, to the surprise of the neighbours|, mainly for reasons of cost|, as a local newspaper reported|, with some help from abroad
, a decision that was later criticised|, after talks with the trade union|, against the advice of experts|, despite some protests
, although the neighbours objected|, because of a shortage of staff|, which saved a great deal of money|, at public expense
, which nobody had expected|, as had been agreed in writing|, after a long public debate|, although the weather was bad
, which later became the rule|, following a vote of the members|, for which a permit was needed|, with the help of volunteers
, something the press criticised|, which made the front pages|, as the owners had demanded|, although it cost twice as much"""
_BANK_ZH = """，并得到当地居民的支持|，费用由市政府承担|，这在当地引起了争议|，并因此获得了奖金|，后来还被媒体报道|，主要是出于成本考虑
，事后得到专家的肯定|，家人对此并不知情|，因为预算十分紧张|，所需经费来自捐款|，并聘请了外地的顾问|，结果比预期好得多|，当天下着大雨
，并邀请了多名记者到场|，为此还向银行贷了款|，由两名助手协助完成|，这是董事会投票的结果|，之后又补签了合同|，周围居民多次投诉
，这一做法后来被推广到全省|，比原计划推迟了几个星期|，并在报纸上刊登了消息|，因此受到上级表扬|，起因是邻居的建议|，消息传得很快
，并且只在周末进行|，还为此租了一间仓库|，途中换乘了两次火车|，同行的还有几名学生|，事先征求了律师的意见|，并把收入捐给了学校
，原因是人手不足|，并接受了电视台采访|，但不久又搬到了邻县|，设备是从学校借来的|，并由公证人在场见证|，所有费用事后报销
，主要面向外地游客|，当时正值学校放假|，这也是当地的老传统|，全部采用进口材料|，据说与一场官司有关|，并为此举行了庆祝活动|，不过价格比较贵"""
BANK: dict[Language, tuple[str, ...]] = {
    "en": tuple(_BANK_EN.replace("\n", "|").split("|")),
    "zh": tuple(_BANK_ZH.replace("\n", "|").split("|")),
}
_ADJUNCT_EN = re.compile(
    r"(?P<clause>, (?:which|who|where|after|because|although|with|while|as|since|mainly|including)\b[^,.;:]{8,70})(?=\.(?:\s|$))|"
    r"(?P<phrase>(?<=[a-z\d]) (?:(?:in|on|since|until|before|after|during)(?= [^.,;:]*(?:\d{4}|January|February|April|June|"
    r"July|August|September|October|November|December|day\b))|because|despite|with|after|during)"
    r" (?:[^\s,.;:]+ ?){1,8}(?<! ))(?=\.(?:\s|$))"
)
_NEEDS_PHRASE = re.compile(
    r"(?:\b(?:is|are|was|were|be|been|by|of|to|and|or|than|from|between|lies|lie|lay|stands|stood|located|based|called|known|"
    r"named|depends?|consists?|relies|relied|belongs?|as|\d+|most|more|less|named|not)|\b[A-Z]\w*)$"
)
_ADJUNCT_ZH = re.compile(r"(?P<clause>，(?!而且|但|是|不|没|所以|因此)[^，。；、“”《》]{4,24})(?=。$|。|$)")


# A Chinese clause that cannot stand alone: what follows its comma carries the statement.
_ZH_OPEN = re.compile(
    r"(?:[后时间中里上前下年月日]|期|之际|以来|[一二三四五六日])$|(?:^|[。；])[^，。；]{0,7}$|"
    r"(?:^|[，。；])(?:在|从|自|因|由于|除|对|据|作为|当|为了|虽|若|如|是的|不$|经|随)[^，。；]*$"
)


def addition(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Replace an adjunct by an unsupported one of about the same length, so that length tells nothing."""
    pattern = _ADJUNCT_ZH if language == "zh" else _ADJUNCT_EN
    spots = [
        m
        for m in pattern.finditer(answer)
        if len(answer[: m.start()].strip()) >= (6 if language == "zh" else 16)
    ]
    if language == "zh":
        spots = [m for m in spots if not _ZH_OPEN.search(answer[: m.start()])]
    rng.shuffle(spots)
    bank = list(BANK[language])
    rng.shuffle(bank)
    for spot in spots:
        group = "clause" if spot["clause"] else "phrase"
        start, end = spot.span(group)
        if group == "phrase" and (_NEEDS_PHRASE.search(answer[:start]) or _dependent(answer, start)):
            continue
        if group == "phrase" and re.search(r"\b(?:not|never|no)\b|n[’']t\b", _clause(answer, start)[0]):
            continue
        if group == "phrase":
            start += 1
        room = 3 if language == "zh" else 6
        for detail in bank:
            if detail.startswith((",", "，")) != (group == "clause") or occurs(
                detail.strip(" ,，"), document
            ):
                continue
            if abs(len(detail) - (end - start)) > room:
                continue
            if set(re.findall(r"[a-z]{5,}", detail)) & set(re.findall(r"[a-z]{5,}", answer[:start])):
                continue
            if edit := _make("addition", answer, document, language, [(start, end, detail)]):
                return edit
    return None


EDITS: dict[str, EditFunction] = {
    "number": number,
    "date": date,
    "entity": entity,
    "negation": negation,
    "comparative": comparative,
    "addition": addition,
}
EDIT_TYPES: tuple[str, ...] = tuple(EDITS)
