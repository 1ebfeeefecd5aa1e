"""Find the facts of a text that can be swapped: numbers, dates and names, in English and Chinese.

Rules, not a model: a perturbation needs a fact that is surely a fact, so everything here prefers to miss one
over naming an ordinary word. ``Fact.form`` says what a fact may be exchanged for (a year for a year).
"""

# ruff: noqa: E501, SIM905 (the tables of names and characters read best as blocks)

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from judge.types import Language


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: ``text == source[start:end]``; ``form`` is its sub-kind, ``unit`` the word counted."""

    kind: str
    text: str
    start: int
    end: int
    form: str = ""
    unit: str = ""


MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NUMBER_WORDS = tuple(
    (
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
    ).split()
)
ORDINAL_WORDS = (
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
)
ZH_NUMERALS = "二三四五六七八九十"
_MEASURES = "个名位次岁座条件家项种本部间台艘张把幅只頭头栋层排节枚届支篇套门所人天周倍米吨辆户棵株場场期"
_MONTH = "(?:" + "|".join(MONTHS) + ")"
_YEAR_BEFORE = (
    r"(?:\b(?:in|since|by|from|until|till|to|after|before|during|of|year|and|between|or|early|late|mid|about|around|"
    r"circa|summer|spring|autumn|winter|fall|season|election|" + "|".join(MONTHS) + r")|\d{1,2},|[(–/])\s?$"
)
_DATES: dict[Language, tuple[tuple[str, str], ...]] = {
    "en": (
        ("day-month", rf"\b\d{{1,2}} {_MONTH}\b"),
        ("month-day", rf"\b{_MONTH} \d{{1,2}}\b(?![\d,.]*\d{{3}})"),
        ("clock", r"(?<![\d:.])\d{1,2}:\d\d(?!:?\d)(?! ?[ap]\.?m)"),
        ("clock-ampm", r"(?<![\d:.])\d{1,2}(?:[:.]\d\d)? ?[ap]\.?m\b"),
        ("weekdays", rf"\b(?:{'|'.join(WEEKDAYS)})s\b"),
        ("weekday", rf"\b(?:{'|'.join(WEEKDAYS)})\b"),
        ("decade", r"\b(?:1\d|20)\d0s\b"),
        ("year", r"(?<![\w.,$€£#-])(?:1[0-9]|20)\d\d(?![\w%-]|[.,:]\d)"),
        ("month", rf"\b{_MONTH}\b"),
    ),
    "zh": (
        ("month-day", r"(?<!\d)\d{1,2}月\d{1,2}[日号]"),
        ("decade", r"(?<!\d)(?:\d\d)?\d0年代"),
        ("year", r"(?<!\d)(?:1\d|20)\d\d年(?!代)"),
        ("month", r"(?<!\d)(?:1[0-2]|[1-9])月(?!\d)"),
        ("weekday", r"(?:星期|周|礼拜)[一二三四五六日天](?![周年个位])"),
        ("clock", r"(?<![\d:])\d{1,2}[:：]\d\d(?![:：]?\d)"),
        ("clock-zh", r"(?<!\d)\d{1,2}[点时](?!\d|间|钟)(?:半)?"),
    ),
}
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,_#/:])(?<![A-Za-z][-–])(?<!\d[-–—~至到])(?P<cur>[$€£¥]\s?)?(?P<num>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<mag>\s?(?:million|billion|thousand|trillion)\b|[万亿千]+)?(?P<suf>\s?[%％‰]|(?:st|nd|rd|th)\b)?"
    r"(?![A-Za-z_:/])(?!\d|[.,]\d|\s?[-–—~至到]\s?\d)"
)
_UNIT_EN = re.compile(r"[\s-]+([A-Za-z°]+)")
_UNIT_ZH = re.compile(r"\s?((?:平方|立方)?公?[\u4e00-\u9fff]时?|[A-Za-z°]+)")
_NO_UNIT = frozenset(
    "and or to of in on at by from for with but the a an is was were are as than until more per".split()
)
_EN_WORDS = re.compile(
    rf"(?<![\w-])({'|'.join(NUMBER_WORDS)})(?![\w-])(?! (?:hundred|thousand|million|billion)\b)", re.I
)
_EN_ORDINALS = re.compile(rf"(?<![\w-])(?<!\ba )({'|'.join(ORDINAL_WORDS)})(?![\w-]| of\b)")
_ZH_NUMERAL = re.compile(
    rf"(?<![一二三四五六七八九十百千万亿两几数第点])([两{ZH_NUMERALS}])(?=[{_MEASURES}])"
)
_ZH_ORDINAL = re.compile(rf"第([{ZH_NUMERALS}])(?=[{_MEASURES}])")
CJK = re.compile(r"[\u4e00-\u9fff]")


def _free(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    return all(end <= a or start >= b for a, b in taken)


def find_dates(text: str, language: Language) -> list[Fact]:
    """Dates and times. A full English date gives two facts, its day and month, and its year."""
    found: list[Fact] = []
    taken: list[tuple[int, int]] = []
    for form, pattern in _DATES[language]:
        for match in re.finditer(pattern, text):
            start, end = match.span()
            before = text[max(0, start - 14) : start]
            if not _free(taken, start, end):
                continue
            if language == "en" and form == "year" and not _is_year(text, start, end):
                continue
            if language == "en" and form == "month" and not _is_month(text, end, match.group(), before):
                continue
            taken.append((start, end))
            found.append(Fact("date", match.group(), start, end, form))
    return sorted(found, key=lambda fact: fact.start)


def _unit(match: re.Match[str] | None) -> str:
    word = match[1].lower() if match else ""
    return "" if word in _NO_UNIT else word


def _is_year(text: str, start: int, end: int) -> bool:
    if re.search(_YEAR_BEFORE, text[max(0, start - 14) : start], re.I):
        return not re.match(
            r"\s(?:people|metres|meters|years|copies|visitors|units|square|cubic|\w{4,}s\b)", text[end:]
        )
    return bool(re.match(r"[),;.]", text[end:]) and re.search(r"[(,]\s?$", text[:start]))


def _is_month(text: str, end: int, month: str, before: str) -> bool:
    if month not in ("May", "March"):
        return True
    return bool(
        re.match(r",? \d{4}", text[end:])
        or re.search(r"\b(?:in|of|by|since|until|early|late|mid|last) $", before)
    )


def find_numbers(text: str, language: Language) -> list[Fact]:
    """Numbers that are no dates: digits with sign, percent and magnitude, and safe number words."""
    taken = [(fact.start, fact.end) for fact in find_dates(text, language)]
    found: list[Fact] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        digits = match["num"]
        if not _free(taken, start, end) or (len(digits) > 7 and "," not in digits):
            continue
        form = (
            (match["cur"] or "").strip() + ("dec" if "." in digits else "int") + (match["mag"] or "").strip()
        )
        form += "0" * (digits[0] == "0" and "." not in digits)
        suffix = (match["suf"] or "").strip()
        form += "%" if suffix in ("%", "％") else "ord" if suffix else ""
        if language == "zh" and text[:start].endswith("第"):
            form += "第"
        unit = (_UNIT_ZH if language == "zh" else _UNIT_EN).match(text, end)
        if re.search(r"[(\[]$", text[:start]) and re.match(r"[)\]]", text[end:]):
            continue
        if re.match(r"[.)]\s", text[end : end + 2]) and re.search(r"(?:^|\n)\s*$", text[:start]):
            continue
        found.append(Fact("number", match.group(), start, end, form, _unit(unit)))
    for pattern, form in _WORD_PATTERNS[language]:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            unit = (_UNIT_ZH if language == "zh" else _UNIT_EN).match(text, end)
            found.append(Fact("number", match[1], start, end, form, _unit(unit)))
    return sorted(found, key=lambda fact: fact.start)


_WORD_PATTERNS: dict[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    "en": ((_EN_WORDS, "word"), (_EN_ORDINALS, "ordinal-word")),
    "zh": ((_ZH_NUMERAL, "numeral"), (_ZH_ORDINAL, "ordinal-numeral")),
}

# --- names -------------------------------------------------------------------------------------------------

_STOP = frozenset(
    (
        "a an the this that these those it its he she they we you i his her their our my your who what "
        "when where why how which whose and or but so if as at by for from in into of off on onto out "
        "over to up with without after before since until while during because although though however "
        "therefore thus also then there here not no yes nor both all any some each every most many much "
        "few several one two three four five six seven eight nine ten first second third last next other "
        "another such only even just still yet now today later earlier once twice about above across "
        "against along among around behind below beneath beside between beyond despite down except inside "
        "like near outside past per through throughout toward towards under unlike upon within according "
        "instead meanwhile moreover overall finally note please dear question answer figure table section "
        "chapter page appendix background methods results conclusion conclusions objective patients can "
        "could may might must shall should will would do does did is are was were be been has have had am "
        "pm ok mr mrs ms dr prof sir lady abstract introduction discussion"
    ).split()
) | {name.lower() for name in (*MONTHS, *WEEKDAYS)}
_ORG = frozenset(
    (
        "university college school institute academy hospital clinic museum gallery archive library bank "
        "company corporation ltd inc plc llc gmbh society association foundation trust council committee "
        "agency ministry department court church party union club orchestra theatre theater ensemble "
        "press times laboratory lab laboratories centre center group board authority commission brothers "
        "sons works brewery railway airlines choir cooperative bureau office"
    ).split()
)
_PLACE = frozenset(
    (
        "river lake street road avenue bay island islands mountain mountains mount hill hills valley "
        "county province state strait sea ocean bridge square park forest harbour harbor port town city "
        "village district cape coast beach gorge pass peak ridge falls creek canal field fields lane "
        "market quarter station airport tower castle cathedral"
    ).split()
)
GENERIC = (
    _ORG
    | _PLACE
    | frozenset({"of", "the", "de", "and", "for", "st", "saint", "new", "old", "north", "south"})
)
_PLACE |= frozenset(
    "glacier skerry highlands lowlands plateau basin peninsula reef lough loch glen moor mill farm house row flats strand "
    "gardens estuary tunnel well wells heath brook weir common fjord junction summit wood woods cove point rock rocks spring "
    "springs meadow meadows terrace wharf dock docks pier path trail region zone".split()
)
_ORG |= frozenset(
    "survey films observatory publishers joinery herons trust chapter railways energy systems choir".split()
)
# Words that close the name of a thing, so that two capitals do not make a person.
_THING = frozenset(
    "paper print salvage mutual outdoor audio electric lines united opera tools aquarium order reach yard hut ferry calm "
    "spinner dawn mini foundation timber fund glass sans mail parcels bowl manager theatre theater league cup war revolution "
    "empire army force test act treaty prize award data virus disease syndrome officer president director championship "
    "conference stadium festival day week month year games game band album song film series party rule law code system model "
    "trial study report scale index score project programme program plan service network channel media news radio television "
    "software engine motors foods stone sheet flora clock trail express steel oil gas power water bridge age era period".split()
)
# Words that open the name of a place ("Upper Fenwick"), not of a person.
_PLACE_HEAD = frozenset(
    "upper lower greater great little new old north south east west northern southern eastern western port camp fort cape "
    "lake mount saint st san santa los el la grand high royal central inner outer big grey black white red green blue".split()
)
_CAP = r"[A-ZÀ-Ý]\w*(?:[-’'][A-ZÀ-Ý]?\w{2,})*"
_RUN = re.compile(rf"(?:[A-Z]\. ?)*{_CAP}(?: (?:(?:of|of the|de|del|la|van|von|der) )?(?:[A-Z]\. )?{_CAP})*")
_TITLE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Professor|Sir|Lady|Captain|Judge|President|Bishop|Sister|Brother|Aunt|Uncle|Coach|Inspector|"
    r"Agent|Officer|Mayor|King|Queen|Prince|Princess|General|Storm|Justice|Doctor|Father|Minister|Senator)\.? $"
)
_DEMONYM = re.compile(r"\w+(?:ish|ese|[^aeiou]ian|ean|can)$|French|Dutch|Greek|German$")


_POSSESSIVE = re.compile(r"[’']s [A-Z]")


def _initial(text: str, start: int) -> bool:
    return not text[:start].rstrip(" \t\"“‘'(").endswith(
        tuple("abcdefghijklmnopqrstuvwxyz,;0123456789)")
    ) or bool(re.search(r"\n\s*[\"“(]?$", text[:start]))


def _english_runs(text: str) -> Iterator[tuple[str, int, int]]:
    lower = set(re.findall(r"\b[a-zà-ÿ]\w*", text))
    inner = {m.group() for m in re.finditer(_CAP, text) if not _initial(text, m.start())}
    for match in _RUN.finditer(text):
        start, run = match.start(), match.group().rstrip(".")
        while run:
            head = run.split(" ", 1)[0]
            ordinary = (
                head.lower().rstrip(".") in _STOP
                or (" " in run and _TITLE.search(head + " ") is not None)
                or (
                    _initial(text, start)
                    and (head.lower() in lower or (" " not in run and head not in inner))
                )
            )
            if not ordinary:
                break
            start += len(head) + 1
            run = run[len(head) + 1 :]
            joint = re.match(r"(?:of|the|de|del|la|van|von|der)(?: the)? ", run)
            if joint:
                start, run = start + joint.end(), run[joint.end() :]
        if _POSSESSIVE.match(text, start + len(run)) or re.search(r"[A-Z]\w+[’']s $", text[:start]):
            continue
        if (
            len(run) > (2 if run.isupper() else 1)
            and run.lower() not in _STOP
            and not re.fullmatch(r"[IVX]+|\w+ly", run)
        ):
            yield run, start, start + len(run)


def _english_names(text: str) -> list[Fact]:
    runs = list(_english_runs(text))
    votes: dict[str, Counter[str]] = {}
    surnames = {run for run, _, _ in runs if " " not in run}
    for run, start, end in runs:
        vote = votes.setdefault(run, Counter())
        before, after, words = text[max(0, start - 16) : start], text[end : end + 16], run.split()
        tail, head = words[-1].lower(), words[0].lower()
        if tail in _ORG or (" of " in run and head in _ORG):
            vote["organisation"] += 9
        elif tail in _PLACE or (len(words) > 1 and head in _PLACE | _PLACE_HEAD):
            vote["place"] += 9
        elif len(words) > 1 and (tail in _THING or tail.rstrip("s") in _THING):
            vote["other"] += 9
        elif len(words) == 1 and _DEMONYM.match(run):
            vote["demonym"] += 9
        elif run.isupper():
            vote["acronym" if run.isalpha() else "code"] += 5
        vote["person"] += 6 * bool(_TITLE.search(before))
        vote["person"] += bool(
            re.match(r" (?:said|wrote|was born|told|who|joined|argued|explained|died|became)\b", after)
        )
        vote["person"] += bool(re.match(r", (?:who|aged|her|his)\b", after)) + bool(
            re.search(r"\b(?:by|with) $", before)
        )
        vote["person"] += 2 * bool(
            re.search(
                r"\b(?:brother|sister|wife|husband|son|daughter|colleague|coach|aunt|uncle),? $", before
            )
        )
        vote["person"] += 2 * bool(
            re.search(r"\b[a-z]+(?:er|or|ist|ian|man|woman|ant|oach|end|ess) $", before)
        )
        vote["person"] += 2 * (len(words) == 2 and words[1] in surnames)
        vote["place"] += 2 * bool(
            re.search(r"\b(?:in|near|at|from|into|around|outside|towns? of|city of|to) $", before)
        )
    people = {word for run, vote in votes.items() if _kind(run, vote) == "person" for word in run.split()}
    found = []
    for run, start, end in runs:
        kind = "person" if run in people else _kind(run, votes[run])
        sure = "sure" if votes[run]["person"] > 0 else ""
        shape = "long" if " " in run else "short"
        found.append(Fact("entity", run, start, end, f"{kind}-{shape}" if kind == "person" else kind, sure))
    return found


def _kind(run: str, vote: Counter[str]) -> str:
    best = vote.most_common(1)
    if best and best[0][1] > 0:
        return best[0][0]
    return (
        "person" if not run.endswith("s") and re.fullmatch(rf"{_CAP} (?:[A-Z]\.? )?{_CAP}", run) else "other"
    )


_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪"
    "范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐庄颜"
)
_ZH_SUFFIX = (
    "公司|大学|学院|中学|小学|医院|博物馆|研究所|研究院|银行|图书馆|出版社|美术馆|档案馆|协会|基金会|委员会|剧院|剧团|"
    "市|县|镇|省|区|村|河|湖|山|路|街|江|岛|桥|港|寺|站|峡|湾"
)
_ZH_ORG = re.compile(
    r"(?:公司|大学|学院|中学|小学|医院|馆|研究所|研究院|银行|出版社|协会|基金会|委员会|剧院|剧团)$"
)
ZH_EDGE = "达打归临没有不都也就还今在到于从往向由为是和与及的了给对把被让至入离自经将，。、；：？！（）“”《》 \n以跟同距沿过等该因而但其被登任聘请"
_ZH_BAD = re.compile(r"[年月日时个这那其一二三四五六七八九十两全本各每某当该上下中内外新老大小\d]")
_ZH_PLACE = re.compile(
    rf"(?<=[{ZH_EDGE}])([\u4e00-\u9fff]{{2,5}}?(?:{_ZH_SUFFIX}))(?![\u4e00-\u9fff]?(?:{_ZH_SUFFIX}))"
)
_ZH_TITLES = r"(?:先生|女士|教授|博士|馆长|老师|院长|主任|医生|校长|经理|研究员|工程师|师傅|说|表示|认为|介绍|指出|担任|出生|生于)"
_ZH_PERSON = re.compile(rf"(?=([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}))")
_ZH_NOT_GIVEN = re.compile(
    r"[何多围内外间最更很能可在到于从为是和与及的了给对把被让至入离自经将不没有也都就又还说年月日时个人们这那其之上下中大会市县镇省区河湖山路街公司馆所院家师一二三四五六七八九十]"
)


# Characters that write foreign names by sound; a run of three or more is such a name.
_SOUND = (
    "阿埃艾安奥巴贝彼伯布查茨达丹德迪蒂杜恩尔菲费弗福夫盖戈格古哈汉赫亨霍吉加杰卡凯坎科克肯库拉莱兰勒雷里利莉卢鲁伦罗洛玛迈曼梅"
    "蒙米莫姆穆纳尼涅娜诺努帕佩皮普奇切丘萨塞桑瑟沙莎施丝斯塔泰坦汤特图托瓦威韦维沃乌希肖谢辛休雅亚耶伊尤约泽扎詹兹佐"
)
_ZH_FOREIGN = re.compile(
    rf"(?<![{_SOUND}·])[{_SOUND}]{{2,7}}(?:·[{_SOUND}]{{1,7}})+(?![{_SOUND}·])|(?<![{_SOUND}·])[{_SOUND}]{{3,7}}(?![{_SOUND}·])"
)
_ZH_ROLE = "长师员生友档家者士弟兄女妻商匠傅医官手"
# Surnames that open or close many ordinary words ("方法", "全程", "任何").
_ZH_WEAK = "何程方万向施温严武文曾许余段马安孔高金史石江白毛钱黄林田叶夏雷龙康常于易章"


def _chinese_names(text: str) -> list[Fact]:
    found: list[Fact] = []
    taken: list[tuple[int, int]] = []

    def add(start: int, end: int, form: str) -> None:
        if _free(taken, start, end):
            taken.append((start, end))
            found.append(Fact("entity", text[start:end], start, end, form))

    for match in re.finditer(r"《[^《》]{1,20}》", text):
        add(*match.span(), "title")
    for match in _ZH_PLACE.finditer("，" + text):
        name = match[1]
        if (
            not _ZH_BAD.search(name[:2])
            and not re.search(r"[能可已曾要想必须则仅只最更很起发违]", name)
            and not set(name) & set(ZH_EDGE)
        ):
            form = "organisation" if _ZH_ORG.search(name) else _zh_place(name)
            add(match.start(1) - 1, match.end(1) - 1, form)
    for match in _ZH_FOREIGN.finditer(text):
        before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
        alone = before in ZH_EDGE or not CJK.match(before)
        if len(match.group()) >= 3 and alone and (after in ZH_EDGE + "人市州国派" or not CJK.match(after)):
            add(*match.span(), "person" if "·" in match.group() else "foreign")
    known = _chinese_people(text)
    for name in sorted(known, key=len, reverse=True):
        for match in re.finditer(re.escape(name), text):
            add(*match.span(), "person")
    return sorted(found, key=lambda fact: fact.start)


def _zh_place(name: str) -> str:
    for group in ("市县镇省区村", "山峡岛", "河湖江湾港", "路街"):
        if name[-1] in group:
            return f"place{group[0]}"
    return f"place{name[-1]}"


def _chinese_people(text: str) -> set[str]:
    people: set[str] = set()
    for match in _ZH_PERSON.finditer(text):
        start, name = match.start(), match[1]
        if len(name) == 3 and (_ZH_NOT_GIVEN.search(name[2]) or text.count(name[:2]) > text.count(name)):
            name = name[:2]
        if (
            _ZH_NOT_GIVEN.search(name[1:])
            or not set(name[1:]) - set(_SOUND)
            or re.match(r"[·•]", text[max(0, start - 1) :])
        ):
            continue
        before, after = text[max(0, start - 1) : start], text[start + len(name) :]
        if before and before not in ZH_EDGE + _ZH_ROLE:
            continue
        titled = re.match(_ZH_TITLES, after) is not None
        closed = len(name) == 3 and (after[:1] in tuple("，。、（；") or before in tuple(_ZH_ROLE))
        repeated = len(re.findall(rf"(?:^|[{ZH_EDGE}{_ZH_ROLE}]){name}", text)) >= 2
        plain = name[0] not in _ZH_WEAK
        if titled or (repeated and (plain or len(name) == 3)) or (closed and plain):
            people.add(name)
    return people


def find_entities(text: str, language: Language) -> list[Fact]:
    """Proper names with their kind in ``form``: person, place, organisation, title, demonym or other."""
    return _chinese_names(text) if language == "zh" else _english_names(text)


def find_facts(text: str, language: Language) -> list[Fact]:
    """All facts of ``text`` in order of place. Names that overlap a date or a number are left out."""
    facts = find_dates(text, language) + find_numbers(text, language)
    taken = [(fact.start, fact.end) for fact in facts]
    facts += [fact for fact in find_entities(text, language) if _free(taken, fact.start, fact.end)]
    return sorted(facts, key=lambda fact: (fact.start, fact.end))
