"""The edit type ``addition``: an adjunct gives way to a detail that the document does not hold."""

import re
from random import Random

from data_pipeline.perturb.clauses import clause, dependent
from data_pipeline.perturb.edit import Edit, make_edit, occurs
from data_pipeline.perturb.words import words
from judge.types import Language

BANK: dict[Language, tuple[str, ...]] = {"en": words("details_en"), "zh": words("details_zh")}
"""The details, by language."""
# What may be replaced at the end of a sentence: a clause after a comma, or a phrase of time or cause.
_ADJUNCT_EN = re.compile(
    r"(?P<clause>, (?:which|who|where|after|because|although|with|while|as|since|mainly|including)\b"
    r"[^,.;:]{8,70})(?=\.(?:\s|$))|"
    r"(?P<phrase>(?<=[a-z\d]) (?:(?:in|on|since|until|before|after|during)"
    r"(?= [^.,;:]*(?:\d{4}|January|February|April|June|July|August|September|October|November|December"
    r"|day\b))"
    r"|because|despite|with|after|during)"
    r" (?:[^\s,.;:]+ ?){1,8}(?<! ))(?=\.(?:\s|$))"
)
# Words after which a phrase is no adjunct: the statement needs it.
_NEEDS_PHRASE = re.compile(
    r"(?:\b(?:is|are|was|were|be|been|by|of|to|and|or|than|from|between|lies|lie|lay|stands|stood|located"
    r"|based|called|known|named|depends?|consists?|relies|relied|belongs?|as|\d+|most|more|less|not)"
    r"|\b[A-Z]\w*)$"
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
    room = 3 if language == "zh" else 6
    for spot in spots:
        group = "clause" if spot["clause"] else "phrase"
        start, end = spot.span(group)
        if group == "phrase" and (_NEEDS_PHRASE.search(answer[:start]) or dependent(answer, start)):
            continue
        if group == "phrase" and re.search(r"\b(?:not|never|no)\b|n[’']t\b", clause(answer, start)[0]):
            continue
        if group == "phrase":
            start += 1
        for detail in bank:
            if detail.startswith((",", "，")) != (group == "clause"):
                continue
            if abs(len(detail) - (end - start)) > room or occurs(detail.strip(" ,，"), document):
                continue
            if set(re.findall(r"[a-z]{5,}", detail)) & set(re.findall(r"[a-z]{5,}", answer[:start])):
                continue
            if edit := make_edit("addition", answer, document, language, [(start, end, detail)]):
                return edit
    return None
