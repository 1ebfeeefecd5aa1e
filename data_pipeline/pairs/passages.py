"""Sentences of a document that can stand alone, and the passages that contain them."""

import re
from functools import lru_cache
from typing import NamedTuple

from data_pipeline.pairs.documents.parts import parts_of
from data_pipeline.text.facts import find_entities
from data_pipeline.text.segment_zh import plain
from judge.baselines.overlap import units
from judge.types import Language

WORDS = {"en": (6, 40), "zh": (12, 90)}
"""Minimum and maximum words (characters in Chinese) of a sentence that can stand alone."""
PASSAGE = {"en": 3000, "zh": 1200}
"""Most characters of a passage: a whole document, or the sentences around the relevant one."""
# A sentence that begins like this depends on the one before it.
_DEPENDS = re.compile(
    r"^(?:this|that|these|those|such|it|he|she|they|its|his|her|their|there|here|however|moreover|furthermore"
    r"|therefore|thus|hence|then|also|but|and|so|or|nor|yet|instead|another|other|others|both|each|some"
    r"|similarly|in (?:addition|contrast|particular|fact|turn)|for (?:example|instance)|on the other"
    r"|as a result|the (?:latter|former|same|other)|we|our|I|you|meanwhile|finally|first|second|third"
    r"|additionally|conversely|one|to|yes|no)\b"
    r"|^(?:这|這|那|此|该|該|其|他|她|它|但|而|并|並|因此|所以|然而|不过|不過|同时|同時|另外|后来|後來|之后|之後|随后"
    r"|隨後|于是|於是|当时|當時|由于|由於|例如|如果|虽然|雖然|以及|或|也|还|還|又|则|則|不但|不仅|不僅|即|与|與|故|上述|本"
    r"|据|據|以上|是的|不，|我|[^，]{0,10}[年月日]，|位[于於]|毕业|畢業|成立|出生|全[长長]"
    r"|面[积積]|属[于於]|屬[于於]|[后後入曾现現原因妻首第]|早年|除了|不久|目前|現時|[^，]{1,8}[后後]，|漫[画畫]因)",
    re.I,
)
_REFERS = re.compile(
    r"\b(?:he|she|it|they|his|her|him|them|this|these|those|we|our|above|following)\b"
    r"|[他她它牠祂]|该|該|此|上述|[\[\]|]|https?:|et al",
    re.I,
)
_CUT_OFF = re.compile(r"^.{0,25}:|\b(?:[A-Z][a-z]{2}|al|Figs?|No|vs|ca|approx|e\.g|i\.e|[A-Z])\.$")
_WHOLE = {"en": re.compile(r"[A-Z][^\n]*[a-z0-9)%][.]"), "zh": re.compile(r"[^\n，。]{2,}[^\n]*。")}


SUBJECT = 4
"""A sentence must name its subject within this many words."""
_OF_ITS_TEXT = re.compile(
    r"\b(?:please|dear|instead|also|such|the (?:present )?study|the (?:patients|participants|authors|groups?)"
    r"|both groups|all \d+)\b",
    re.I,
)
_SCRAP = re.compile(
    r"简历|【|】|（记者|原标题|《》|^[一二三四五六七八九\d]+[、.]|的事实。$"
    r"|\b(?:See|Refer to|Notes to|Discussion and Analysis|Situation Report|Not applicable)\b"
)
"""Headings, bylines, list items and references: they state nothing."""
_ROLE_ZH = re.compile(r"被告|原告|上诉人|嫌疑人|法院|检察院|日前|张某|李某|王某")


class Sentence(NamedTuple):
    """A sentence and the passage that holds it."""

    text: str
    passage: str


def stands_alone(text: str) -> bool:
    """Is a sentence independent of the one before it?"""
    return not _DEPENDS.match(text)


@lru_cache(maxsize=256)
def sentences_of(document: str, language: Language) -> tuple[Sentence, ...]:
    """The complete, self-contained sentences of a document, each with its passage."""
    low, high = WORDS[language]
    found = []
    for part in parts_of(document):
        text = document[part.start : part.end]
        if (
            _WHOLE[language].fullmatch(text)
            and low <= len(units(text, language)) <= high
            and stands_alone(text)
            and not _REFERS.search(text)
            and not _CUT_OFF.search(text)
            and not _SCRAP.search(text)
            and names_its_subject(text, document, language)
        ):
            found.append(Sentence(text, passage(document, part.start, language)))
    return tuple(found)


def names_its_subject(text: str, document: str, language: Language) -> bool:
    """Does a sentence begin with a name, so that its subject stays clear next to another text?

    A Chinese sentence may also begin like its document.
    """
    if _SCRAP.search(text):
        return False
    if language == "zh":
        named = text[:2] == document[:2] or any(fact.start < 4 for fact in find_entities(text, "zh"))
        return named and not _ROLE_ZH.match(plain(text))
    first = len(" ".join(text.split()[:SUBJECT]))
    return any(fact.start < first for fact in find_entities(text, "en")) and not _OF_ITS_TEXT.search(text)


@lru_cache(maxsize=4096)
def passage(document: str, place: int, language: Language) -> str:
    """The whole sentences around a position of a document, as many as fit into a passage."""
    if len(document) <= PASSAGE[language]:
        return document
    parts = parts_of(document)
    first = last = max(at for at, part in enumerate(parts) if part.start <= place)
    while True:
        wider = max(0, first - 1), min(len(parts) - 1, last + 1)
        if wider == (first, last) or parts[wider[1]].end - parts[wider[0]].start > PASSAGE[language]:
            return document[parts[first].start : parts[last].end]
        first, last = wider
