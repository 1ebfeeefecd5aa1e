"""Sentences of a document that can be used in an answer: each states something of its own, completely.

Rules rather miss one: sentences that cite, that refer to their own text, or that the splitter may have cut in
two are left out. The others are lightly reworded where that surely keeps the meaning, so that an answer is
not a plain copy.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from data_pipeline.pairs.documents.parts import parts_of
from data_pipeline.text.clauses_en import inflect, is_finite, lemmas_of
from data_pipeline.text.leaning import depends_on_previous
from data_pipeline.text.words import either, pairs
from judge.baselines.overlap import units
from judge.types import Language

SIZES: Mapping[Language, tuple[int, int]] = {"en": (8, 45), "zh": (14, 90)}
"""Minimum and maximum words (characters in Chinese) of a statement."""
LONG_LINE = 60
"""A line of this many characters is not a heading: without an end mark, the next line continues it."""

_FIT_EN = re.compile(r"(?!To |[^.]{0,40}:|\d{1,3} [A-Z])(?:[A-Z][\w’'-]* |\d).*[a-z0-9%]\.", re.S)
_UNFIT_EN = re.compile(
    rf"\b(?:{either('unfit_words_en')})\b"
    r"|[\[\]()|•…©®~=<>{}?!#*@^_\\]|:(?!\d)|\.\.|--|''|``"
    r"|[a-z\d]\.[A-Z]|\u2018|(?<=[a-z])\d|\b\d+,\d{1,2}\b(?!\d)|\s[,.]"
)
_AUXILIARY_EN = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|did|does|do)\b"
)
_OBJECT_EN = re.compile(r"\b([a-z]+) (?:the|a|an|its|his|her|their|that|no|most|many|[A-Z\d]\w*)\b")
"""A verb and the beginning of its object; "admitted" in "patients admitted to hospital" is not the sentence's
verb."""
_MOSTLY_NAMES = 0.6
"""With more than this share of words with a capital or a digit, a line is a title or a row of numbers."""
_CUT = re.compile(rf"\b(?:{either('abbreviations_en')})\.[\"”)]?$")
"""Where the splitter may have cut a sentence in two."""
_FIRST_EN = re.compile(r"\b(?:we|our|ours|us)\b", re.I)
_CONNECTIVE_EN = re.compile(
    r", (?:however|therefore|thus|moreover|furthermore|consequently|in turn|for example|too)(?:,|(?=\.))"
)
_FRONTED = re.compile(
    r"(In|On|By|Since|Until|During|After|Before) "
    rf"((?:early |late |mid-?)?(?:(?:{either('months_en')}) )?(?:\d{{1,2}}, )?(?:1\d|20)\d\d), "
    r"([^,]{20,140})\."
)
_MORE_THAN_ONE_CLAUSE = re.compile(
    r"\b(?:and|but|or|that|which|who|whom|whose|when|where|while|because|since|after|before|until|although|if"
    r"|as|than|to)\b|\d{4}"
)
_FOUND_ZH = re.compile(
    r"^(?:经审理查明|经查明|经查|另查明|另查|查明|本院查明|本院认定|经审理本院认定)[,，:：]\s*"
)
_UNFIT_ZH = re.compile(
    rf"^(?:{either('unfit_openers_zh')})|[我你您咱]|本院|本案|本所|本报|本文|笔者|记者|上述|前述|如下|以下|见[图表]|http"
    r"|[()（）：:；;？?！!…\[\]|＊*#<>×]|\d日电|上列|简历|【|】|^[一二三四五六七八九\d]+[、.]|的事实。$"
)
_PARENTHESIS = re.compile(r"\s*[(（](?!\d{4}[)）])[^()（）]*[)）]")
_REWORDED: Mapping[Language, tuple[tuple[str, re.Pattern[str], str], ...]] = {
    "en": tuple(
        (old, re.compile(rf"(?<!\ba)(?<!\ban) {re.escape(old)}(?=[ ,.])"), f" {new}")
        for old, new in pairs("rewordings_en")
    ),
    "zh": tuple((old, re.compile(re.escape(old)), new) for old, new in pairs("rewordings_zh")),
}
_BLANKS_ZH = re.compile(r"(?<=[^\x00-\x7f]) +| +(?=[^\x00-\x7f])")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence for an answer, and the number of the document's part (``parts_of``) that supports it.

    If it ``depends`` on the sentence before it ("It", "However"), it can only follow that one.
    """

    text: str
    part: int
    depends: bool


@lru_cache(maxsize=256)
def statements(document: str, language: Language) -> tuple[Statement, ...]:
    """The sentences of a document that can be used in an answer, in order."""
    found: list[Statement] = []
    seen: set[str] = set()
    before = "."
    for number, part in enumerate(parts_of(document)):
        text = document[part.start : part.end]
        broken = (
            len(before) > LONG_LINE and language == "en" and not re.search(r"[.!?:;][\"”’)\]\s]*$", before)
        )
        whole = not broken and not _CUT.search(before)
        before = text
        said = plain(text, language) if whole and "\n" not in text else None
        if said is None or said in seen:
            continue
        depends = depends_on_previous(said, language)
        if depends and (not found or found[-1].part != number - 1):
            continue
        seen.add(said)
        found.append(Statement(said, number, depends))
    return tuple(found)


def plain(text: str, language: Language) -> str | None:
    """A sentence in plain words, or ``None`` if it cannot be used in another text."""
    least, most = SIZES[language]
    text = _PARENTHESIS.sub("", text) if text[:1] not in "(（" else text
    text = re.sub(r"\s+", " ", text).strip()
    said = _plain_zh(_BLANKS_ZH.sub("", text)) if language == "zh" else _plain_en(text)
    return said if said is not None and least <= len(units(said, language)) <= most else None


def _plain_en(text: str) -> str | None:
    text = _CONNECTIVE_EN.sub("", text)
    text = re.sub(r" also (?=[a-z])", " ", text)
    named = sum(word[0].isupper() or word[0].isdigit() for word in text.split())
    if (
        not _FIT_EN.fullmatch(text)
        or _CUT.search(text)
        or _UNFIT_EN.search(text)
        or _FIRST_EN.search(text)
        or not _says(text)
        or named > _MOSTLY_NAMES * len(text.split())
        or text.count('"') % 2
        or text.count("“") != text.count("”")
    ):
        return None
    return _reworded(_turned(text), "en")


def _says(text: str) -> bool:
    """Does an English sentence have a verb of its own?"""
    return bool(_AUXILIARY_EN.search(text)) or any(
        re.fullmatch(r"[a-z]{2,}(?:ed|[^s]s)", verb)
        or is_finite(verb)
        or any(inflect(base, "VBN") == verb for base in lemmas_of(verb).get("VERB", ()))  # "cut" too
        for verb in _OBJECT_EN.findall(text)
    )


def _reworded(text: str, language: Language) -> str:
    """Replace set phrases by other words."""
    for old, pattern, new in _REWORDED[language]:
        if old in text:
            text = pattern.sub(new, text)
    return text


def _turned(text: str) -> str:
    """Move a date from the front to the end of a sentence with one clause."""
    if (match := _FRONTED.fullmatch(text)) and not _MORE_THAN_ONE_CLAUSE.search(match[3]):
        return f"{match[3][0].upper()}{match[3][1:]} {match[1].lower()} {match[2]}."
    return text


def _plain_zh(text: str) -> str | None:
    text = _FOUND_ZH.sub("", text)
    marks = all(text.count(one) == text.count(two) for one, two in ("“”", "《》", "「」"))
    return _reworded(text, "zh") if text.endswith("。") and marks and not _UNFIT_ZH.search(text) else None
