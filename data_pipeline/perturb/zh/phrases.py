"""Edits that exchange one phrase of a statement: certainty, quantifier, cause and order, in Chinese.

Each phrase is a pattern over whole words and what stands in its place; the document must say the phrase that
the answer says, near the same words, so that the changed statement is surely not borne by it.
"""

import re
from collections.abc import Iterable, Iterator
from random import Random

from data_pipeline.perturb.edit import Edit, EditFunction, Swap
from data_pipeline.perturb.zh.edit import chinese_edit, clauses, terms
from data_pipeline.perturb.zh.facts import is_translated
from data_pipeline.perturb.zh.segment import is_whole, plain, sentence_of, word_after, word_before
from judge.types import Language

_BORNE = 0.4
"""Share of a clause's words that a clause of the document must hold to be about the same."""
_Table = Iterable[tuple[str, str]]

_CERTAINTY: _Table = (
    (r"(?:有|很|极)?可能(?:会|将)(?!不|被)", "会"),
    (r"(?<![不尽])可能(?=导致|造成|引起|影响|出现|发生|增加|减少|使|受到|涉及|来自|存在)", "会"),
    (r"(?:或|或许|也许|大概)会(?=[^，。]{2})", "会"),
    (r"(?:或|有望|预计|拟)将?于", "将于"),
    (r"有望(?!于)", "将"),
    (r"初步(?=认定|确定|查明|判定|估计|统计)", "最终"),
    (r"计划于", "已于"),
    (r"疑似(?=因|为|与)", "确认"),
)
_QUANTIFIER: _Table = (
    (r"(?<!一)(?:绝)?大(?:部分|多数)(?!地|时|的)", "全部"),
    (
        r"(?:(?<=[，。；])|^|(?<=[其将对在称]))部分(?=[\u4e00-\u9fff]{2})(?!内容|成员|时|的|情况|极端)",
        "全部",
    ),
    (r"(?:(?<=[，。；])|^)(?:有些|一些)(?=[\u4e00-\u9fff]{2})(?!人|甚至|又|是|为|则|还|也|会)", "所有"),
    (r"主要(?=由|来自|用于|分布|从事|依靠|生产|集中|针对|面向|出口|负责)", "只"),
    (r"几乎(?=全部|所有|完全)", ""),
    (
        r"(?:通常|一般|往往|多半|有时|偶尔)(?=[\u4e00-\u9fff]{2})(?!来说|而言|人|情况|的|是|为|也|认为|由|以)",
        "总是",
    ),
    (r"(?<=[\u4e00-\u9fff])之一(?=[，。；]|$)", ""),
)
_CAUSE: _Table = (
    (
        r"(?<![和及、])(?:与|和|跟)(?P<what>[^，。；、和与及]{2,16}?)(?:密切|紧密|直接)?(?:有关|相关|相关联|存在关联)(?=[，。；]|$)",
        r"是由\g<what>导致的",
    ),
)
_ORDER: _Table = (
    (r"(?<![，。；年天月周时了过])(?<!赛季)之后(?=[，。；]|$)", "之前"),
    (r"(?<![，。；年天月周时])(?<!赛季)之前(?=[，。；]|$)", "之后"),
    (r"(?<=[年月日])前(?=[，。；]|$)", "后"),
    (r"(?<=[年月日])后(?=[，。；]|$)", "前"),
    (r"早于", "晚于"),
    (r"晚于", "早于"),
    (r"首次(?=[\u4e00-\u9fff]{2})", "再次"),
    (
        r"先(?P<one>[^，。；、先后再]{2,12})[，,]?(?P<link>再|后|然后)(?P<two>[^，。；、了]{2,12})(?=[，。；]|$)",
        r"先\g<two>，\g<link>\g<one>",
    ),
)
# Only of these may something be the cause.
_EFFECT = re.compile(r"风险|死亡|发病|病例|增加|下降|上升|减少|升高|降低|疾病|癌|症|率|水平|事故|火灾|死|患")
_SETS_AGAINST = re.compile(r"但|尽管|虽然|却|然而|四大|[二三四五六七八九十]大")
# What a phrase may not stand beside: then the change says something else, or nothing.
_NOT_WITH = re.compile(r"避免|防止|以免|风险|[不没未无非]|吗|是否|如果|若|多少|什么|哪")


def _edit(kind: str, table: _Table) -> EditFunction:
    compiled = [(re.compile(pattern), text) for pattern, text in table]

    def edit(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
        spots = list(_spots(answer, document, question, compiled, kind))
        rng.shuffle(spots)
        for swap in spots:
            if made := chinese_edit(kind, answer, document, [swap]):
                return made
        return None

    edit.__doc__ = f"Exchange one phrase of {kind} of a Chinese answer."
    return edit


def _spots(
    answer: str, document: str, question: str, table: list[tuple[re.Pattern[str], str]], kind: str
) -> Iterator[Swap]:
    text = plain(answer)
    for pattern, new in table:
        for match in pattern.finditer(text):
            start, end = match.span()
            clause_start = max(text.rfind(mark, 0, start) for mark in "，。；！？：\n,;") + 1
            clause = re.split(r"[，。；！？：\n,;]", text[clause_start:])[0] if end - start < 12 else match[0]
            if not is_whole(answer, start, end) or match[0] in plain(question):
                continue
            if kind != "order" and _NOT_WITH.search(clause.replace(match[0], "")):
                continue
            if not _reads(kind, answer, clause, match):
                continue
            put = match.expand(new)
            if not put:  # what goes is named with the word before it
                start = max(clause_start, start - 4)
                put = text[start : match.start()]
            if put and (is_translated(document) or _says(clause, match[0], match.expand(new), document)):
                yield start, end, put


def _reads(kind: str, answer: str, clause: str, match: re.Match[str]) -> bool:
    """Would the sentence hang together with the other phrase?"""
    around = sentence_of(match.string, match.start())
    following = word_after(answer, match.end())
    if kind == "certainty":
        return "的" not in clause[clause.find(match[0]) :]
    if kind == "quantifier":
        quoted = match.string.count("《", 0, match.start()) > match.string.count("》", 0, match.start())
        return not quoted and not _SETS_AGAINST.search(around)
    if kind == "cause":
        return _EFFECT.search(clause[: clause.find(match[0])]) is not None
    if match[0] == "首次":
        before = word_before(answer, match.start())
        return following is not None and following.tag[0] == "v" and (before is None or before.tag[0] != "v")
    if match[0] in ("早于", "晚于"):
        return len(re.findall(r"\d+", around)) < 2
    return match[0].startswith("先") or not re.search(r"[过了当先继从自已未没不]|一直|始终", around)


def _says(clause: str, old: str, new: str, document: str) -> bool:
    """Does a clause of the document about the same say the old phrase, and none the new one?"""
    wanted = terms(clause.replace(old, ""))
    near = [
        plain(part)
        for part in clauses(document)
        if wanted and len(wanted & terms(part)) >= _BORNE * len(wanted)
    ]
    return bool(near) and not (new and any(new in part and old not in part for part in near))


certainty = _edit("certainty", _CERTAINTY)
quantifier = _edit("quantifier", _QUANTIFIER)
cause = _edit("cause", _CAUSE)
order = _edit("order", _ORDER)
