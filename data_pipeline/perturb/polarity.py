"""The edit type ``negation``: a statement is denied, or a denied one affirmed."""

import re
from random import Random

from data_pipeline.perturb.clauses import is_tied
from data_pipeline.perturb.edit import Edit, Swap, make_edit
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.negation_en import english_negations
from judge.prompting.sentences import sentence_spans
from judge.types import Language

_YES = ("Yes", "是的", "对的", "是", "会的")
YES_OR_NO = re.compile(r"(Yes|No)(?=[,.;]| [-–—] |$)|(是的|对的|不是的|不|没有|是|会的|不会)(?=[，。；]|$)")
"""A plain answer to a yes/no question, at the start of a longer one."""
_DENIES = re.compile(r"\b(?:not|never|no|without|cannot)\b|n[’']t\b", re.I)
OTHER_ANSWER = {
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
    """Turn one statement, by a negation put in or taken out; an opening "Yes" or "No" turns with it."""
    if _DENIES.search(question) or len(sentence_spans(answer)) > 1:
        return None  # what is asked, or what else is said, would speak against the edit
    head = YES_OR_NO.match(answer)
    found = english_negations(answer, question)
    spots = [spot for spot in found if not head or spot.start >= head.end()]
    spots = [spot for spot in spots if not is_tied(answer, spot.start)]
    if is_translation(answer, document):
        spots = [spot for spot in spots if spot.removes]  # news reports what is; a "not" would stand out
    rng.shuffle(spots)
    spots.sort(key=lambda spot: not spot.removes)
    yes = [(head.start(), head.end(), OTHER_ANSWER[head.group()])] if head else []
    if head and len(answer[head.end() :].strip(" ,.;，。；")) <= 3:
        return make_edit("negation", answer, document, language, list(yes))
    for start, end, text, removes in spots:
        if head and removes == (head.group() in _YES):
            continue
        if head and re.search(r"\w[.!?]\s", answer[head.end() : start]):
            continue  # "Yes" and "No" speak of their own sentence
        swaps: list[Swap] = [(start, end, text), *yes]
        if edit := make_edit("negation", answer, document, language, swaps):
            return edit
    return None


def removes_negation(edit: Edit) -> bool:
    """Does a negation edit take a negation out (rather than put one in)?"""
    pattern = re.compile(
        r"\bnot\b|n[’']t\b|\bnever\b|\bno\b|\bno longer\b|\bnobody\b|\bcannot\b|[不没未无从]", re.I
    )
    return bool(pattern.search(edit.replaced)) and not pattern.search(edit.inserted)
