"""The edit type ``negation``: denies a statement ("was not sold"), or affirms a denied one."""

import re
from random import Random

from data_pipeline.edits.clauses import is_tied, sentence_at
from data_pipeline.edits.edit import Edit, Swap, Turn, make_edit, same_case
from data_pipeline.edits.negation_en import english_negations
from data_pipeline.text.content import keys
from data_pipeline.text.facts import is_translation
from judge.prompting.sentences import sentence_spans

_FINDING = re.compile(
    r"\b(?:stud(?:y|ies)|results|findings?|data|patients|hypothes[ie]s|effects?|significant\w*|predict\w*|clinical\w*"
    r"|associat\w+|correlat\w+|outcomes?|(?:pre|post)operative\w*|treatment|therapy|screening|regression)\b"
)
_CONCEDES = re.compile(
    r"\b(?:not|no|cannot|never|lack\w*|may|might|such"
    r"|[Aa]lthough|[Hh]owever|[Ww]e conclude|[Tt]his|[Tt]hese)\b"
)
"""Words of sentences that depend on a finding elsewhere in the answer, or contradict its opposite."""
SAME = 0.2
"""Share of common content words up to which another sentence of an answer is about something else."""
YES_OR_NO = re.compile(r"(Yes|No)(?=[,.;]| [-–—] |$)|(是的|对的|不是的|不|没有|是|会的|不会)(?=[，。；]|$)")
"""A plain answer to a yes/no question, at the start of a longer one."""
_DENIES = re.compile(r"\b(?:not|never|no|without|cannot)\b|n[’']t\b", re.I)
OTHER_ANSWER = {
    "Yes": "No", "No": "Yes", "是的": "不", "对的": "不", "不是的": "是的", "不": "是的", "没有": "是的",
    "是": "不", "会的": "不会", "不会": "会的",
}  # fmt: skip


def negation(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Flip one statement by inserting or removing a negation; an opening "Yes" or "No" changes with it.

    A negation is removed only from findings, which other edits deny as often, or where the same rules could
    insert it again: if edits only ever affirmed a kind of statement, affirming it would give the label away.
    """
    if _DENIES.search(question):
        return None  # the question would contradict the edit
    head = YES_OR_NO.match(answer)
    found = english_negations(answer, question)
    spots = [spot for spot in found if not head or spot.start >= head.end()]
    spots = [spot for spot in spots if not is_tied(answer, spot.start) and says_it_once(answer, spot.start)]
    spots = [spot for spot in spots if not spot.removes or _goes_both_ways(spot, answer, question)]
    if is_translation(answer, document):
        spots = [spot for spot in spots if spot.removes]  # news reports what is; a "not" would stand out
    rng.shuffle(spots)
    spots.sort(key=lambda spot: not spot.removes)
    yes = [(head.start(), head.end(), OTHER_ANSWER[head.group()])] if head else []
    if head and len(answer[head.end() :].strip(" ,.;")) <= 3:
        return make_edit("negation", answer, document, list(yes))
    for start, end, text, removes in spots:
        if head and removes == (head.group() == "Yes"):
            continue
        if head and re.search(r"\w[.!?]\s", answer[head.end() : start]):
            continue  # "Yes" and "No" speak of their own sentence
        swaps: list[Swap] = [(start, end, text), *yes]
        if edit := make_edit("negation", answer, document, swaps):
            return edit
    return None


def says_it_once(answer: str, start: int) -> bool:
    """Is no other sentence of the answer about much the same as the one at ``start``?"""
    own = sentence_at(answer, start)
    said = keys(answer[own.start : own.end])
    others = [answer[span.start : span.end] for span in sentence_spans(answer) if span != own]
    if others and (YES_OR_NO.match(answer) or any(_CONCEDES.search(other) for other in others)):
        return False  # what follows speaks of the opening too
    return all(len(said & keys(other)) <= SAME * min(len(said), len(keys(other))) for other in others)


def _goes_both_ways(spot: Turn, answer: str, question: str) -> bool:
    """Is it a finding, or would the rules insert a negation again where this one is removed?"""
    own = sentence_at(answer, spot.start)
    if _FINDING.search(answer[own.start : own.end]):
        return True
    new = answer[: spot.start] + same_case(answer[spot.start], spot.text) + answer[spot.end :]
    stop = spot.start + len(spot.text)
    return any(
        not turn.removes and turn.start < stop + 1 and spot.start <= turn.end
        for turn in english_negations(new, question)
    )


def removes_negation(edit: Edit) -> bool:
    """Does a negation edit remove a negation (rather than insert one)?"""
    pattern = re.compile(r"\bnot\b|n[’']t\b|\bnever\b|\bno\b|\bno longer\b|\bnobody\b|\bcannot\b", re.I)
    return bool(pattern.search(edit.replaced)) and not pattern.search(edit.inserted)
