"""What a question asks for, by its question word: the kind of answer, and whether there is just one."""

import re
from collections.abc import Mapping

from judge.types import Language

_HOW = "many|much|long|old|often|far|large|big|high|tall|deep|fast|few|wide|heavy|late|early|soon"
# An English question word with what belongs to it; "in what year" and "what year" ask for the same.
_WH_EN = re.compile(
    rf"\b(?:(?P<how>how (?:{_HOW})(?: [a-z-]+)?)|(?P<noun>(?:what|which) (?P<head>(?!(?:is|are|was|were|do"
    r"|does|did|has|have|had|can|could|will|would|should|must|may|might|other|else|of|the|a|an|in|on|to|type|kind|sort)\b)"
    r"[A-Za-z-]+))|(?P<kind>(?:what|which) (?:type|kind|sort)s? of [a-z-]+)"
    r"|(?P<word>who|whom|whose|when|where|why|how|what|which))\b",
    re.I,
)
_TO_AUXILIARY = re.compile(
    r"(?:[A-Za-z-]+ ){0,3}?(?P<head>[A-Za-z-]+) (?:is|are|was|were|do|does|did|has|have|had|can|will|would)\b"
)
_SAME_EN: Mapping[str, str] = {
    **dict.fromkeys(("year", "decade", "century", "date", "day", "month", "time"), "when"),
    **dict.fromkeys(("person", "man", "woman"), "who"),
    **dict.fromkeys(("percentage", "percent", "proportion", "share"), "how percent"),
    **dict.fromkeys(("place", "location"), "where"),
}
_WH_ZH = (
    ("why", re.compile(r"为什么|為什麼|为何|為何|为甚么|為甚麼|(?:什么|什麼|何种|何種)(?:原因|理由|缘故)")),
    (
        "when",
        re.compile(
            r"什么时候|什麼時候|何时|何時|哪一?年|何年|哪一?天|几月|幾月|哪一?月|什么时间|什麼時間|(?:时间|時間|日期)[是为為]"
        ),
    ),
    ("who", re.compile(r"谁|誰|何人|哪位|哪一位|什么人|什麼人|哪个人|哪個人|哪一?[个個位]人")),
    ("where", re.compile(r"哪里|哪裡|哪裏|哪儿|何处|何處|何地|什么地方|什麼地方|哪个地方|哪個地方")),
    ("how", re.compile(r"如何|怎么|怎麼|怎样|怎樣")),
)
_COUNT_ZH = re.compile(r"(?:多少|几|幾|多[长長高大远遠久深重宽寬快])(?P<unit>[\u4e00-\u9fff]?)")
_WHICH_ZH = re.compile(r"(?:什么|什麼|哪一?[\u4e00-\u9fff]|哪些|何|啥)(?P<head>[\u4e00-\u9fff]{0,2})")
# "What is the capital of": the noun says what is asked for. So does what stands before 是什么.
_THE_WHAT = re.compile(
    r"\s*(?:is|are|was|were) (?:the|an?|its|their|his|her) (?:[A-Za-z-]+ ){0,2}?"
    r"(?P<head>[a-z-]+)(?= of | for | in |\?)"
)
_THE_WHAT_ZH = re.compile(r"(?:的|[^\u4e00-\u9fff])([\u4e00-\u9fff]{2,4})[是为為叫]?$")
_WORDS = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how)\b|谁|誰|什么|什麼|哪|何时|何時|如何|多少", re.I
)
OPEN = "what"
_VAGUE = frozenset(
    (
        "type", "kind", "sort", "name", "term", "word", "thing", "things", "two", "three", "following",
        "main", "other",
    )
) | frozenset(
    (
        "类型", "類型", "种类", "種類", "名字", "名称", "名稱", "样的", "樣的", "东西", "東西", "实体",
        "其他", "意思", "特点", "特點", "内容", "作用", "特征", "特徵", "方式", "部分", "方面", "事情",
        "事件",
    )
)  # fmt: skip
"""What the question word alone says nothing about."""
# Questions that more than one answer may be right for, or whose right answer is what does not hold.
_SEVERAL = re.compile(
    r"\b(?:examples?|one of|an? (?:way|reason|kind|type|cause|effect)|some|name (?:a|an|one|two|some)"
    r"|besides|other|another|else|any|among|include[sd]?|including|such as|not|n[’']t|never|except"
    r"|least|known for|possible|can be|could be|may be)\b"
    r"|之一|例如|举例|舉例|除了|除.{1,12}外|另一"
    r"|其他|其它|还有|還有|包括|不[是会會能可]|没有|沒有|哪些|有什么|有什麼|有哪|任何",
    re.I,
)


def asks_for(question: str, language: Language) -> str:
    """The kind of answer that a question asks for, such as "when", "how many", "what team"; empty if unknown.

    Two questions that ask for the same may be answered by things of one kind.
    """
    return _asks_zh(question) if language == "zh" else _asks_en(question)


def several_answers(question: str) -> bool:
    """May a question have more than one right answer, or ask for what does not hold?"""
    return _SEVERAL.search(question) is not None or len(_WORDS.findall(question)) > 1


def _asks_en(question: str) -> str:
    match = _WH_EN.search(question)
    if match is None:
        return ""
    if match["how"]:
        return " ".join(match["how"].lower().split()[:2])
    if match["kind"]:
        return "what " + match["kind"].lower().split()[-1].rstrip("s")
    if match["noun"]:
        run = _TO_AUXILIARY.match(question, match.start("head"))
        return _what((run["head"] if run else match["head"]).lower())
    word = match["word"].lower()
    if word in ("what", "which"):
        named = _THE_WHAT.match(question, match.end())
        return _what(named["head"].lower()) if named else OPEN
    return "who" if word in ("whom", "whose") else word


def _what(head: str) -> str:
    if head in _VAGUE:
        return OPEN
    return _SAME_EN.get(head, f"what {head.rstrip('s')}")


def _asks_zh(question: str) -> str:
    for kind, pattern in _WH_ZH:
        if pattern.search(question):
            return kind
    if match := _COUNT_ZH.search(question):
        return f"how many {match['unit']}"
    if match := _WHICH_ZH.search(question):
        named = _THE_WHAT_ZH.search(question, 0, match.start()) if not match["head"] else None
        head = named[1] if named else match["head"]
        return f"what {head}" if head and head not in _VAGUE else OPEN
    return ""
