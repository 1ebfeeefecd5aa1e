"""The edit type ``negation`` in Chinese: a statement is denied, or a denied one affirmed."""

import re
from random import Random

from data_pipeline.edits.edit import Edit, Swap
from data_pipeline.edits.edit_zh import ASKS_WHY, chinese_edit
from data_pipeline.edits.negation_zh import chinese_negations
from data_pipeline.edits.polarity import OTHER_ANSWER, YES_OR_NO
from data_pipeline.text.facts_zh import is_translated
from data_pipeline.text.segment_zh import plain

_YES = frozenset(("是的", "对的", "是", "会的"))
_DENIES = re.compile(r"[不没未无非]|难")


def chinese_negation(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Turn one statement, by a negation taken out (first) or put in; an opening 是的 or 不 turns with it.

    Questions that deny something themselves, or ask why, would tell a turned answer. Translations are left
    alone: of theirs nearly all that can be turned are denials, and one without tells itself.
    """
    if is_translated(document):
        return None
    head = YES_OR_NO.match(plain(answer))
    asked = plain(question)
    yes: list[Swap] = [(head.start(), head.end(), OTHER_ANSWER[head.group()])] if head else []
    said = answer[head.end() :].strip(" ，。；") if head else ""
    if head and len(said) <= 3:
        return chinese_edit("negation", answer, document, yes)
    if re.search(r"[，；]", said):
        return None  # what its other clauses say would speak against the opening
    if not head and (_DENIES.search(asked) or ASKS_WHY.search(asked)):
        return None
    spots = [spot for spot in chinese_negations(answer) if not head or spot.start >= head.end()]
    rng.shuffle(spots)
    for start, end, text, removes in sorted(spots, key=lambda spot: not spot.removes):
        if head and removes == (head.group() in _YES):
            continue
        if edit := chinese_edit("negation", answer, document, [(start, end, text), *yes]):
            return edit
    return None
