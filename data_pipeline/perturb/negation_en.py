"""Where the polarity of an English statement can be turned."""

import re
from collections.abc import Iterator

from data_pipeline.perturb.clauses import clause, dependent
from data_pipeline.perturb.edit import Turn, same_case
from data_pipeline.perturb.verbs_en import PAST, THIRD, past, third

_AUX = r"(?:is|are|was|were|has|have|had|can|could|will|would|should|must|may|might|does|do|did)"
# Words that mean something else, or sound odd, once the polarity of their clause is turned.
_POLAR = re.compile(
    r"\b(?:any\w*|either|yet|at all|ever|neither|nor|only|no|never|nothing|nobody|none|without|hardly|few"
    r"|both)\b|n[’']t\b|\bnot\b"
    r"|\b(?:at (?:most|least)|up to|until|each|every|all|more than|less than|fewer than|also|still)\b",
    re.I,
)
# What may follow "is" or "has" so that "not" can go in between.
_BE_NEXT = re.compile(
    r" (?!not\b|never\b|no\b|only\b|also\b|just\b|still\b|already\b|even\b|about\b|around\b|nearly\b|almost\b"
    r"|at (?:least|most)\b|more\b|over\b|both\b|either\b|to\b|now\b|n't|that\b|because\b|why\b|there\b|it\b"
    r"|they\b|he\b|she\b)\w"
)
_PARTICIPLE = re.compile(r" (?:been\b|\w{2,}(?:ed|own|orn|ought|aken|iven|itten|old|ade|ecome)\b)")
# The end of a subject: a word that can stand right before its verb.
_SUBJECT_END = re.compile(
    r"(?:\b(?!(?:the|a|an|his|her|its|their|of|by|and|or|to|for|with|in|on|at|from|be|been|was|were|is|"
    r"are|has|have|had|not|being|newly|first|which|when|as|than|also|then|never)\b)[\w’'-]+) $",
    re.I,
)


def english_negations(answer: str) -> Iterator[Turn]:
    """Places where the polarity can be turned: first negations that can go, then where one can come in."""
    yield from _without_not(answer)
    yield from _without_never(answer)
    yield from _without_nobody(answer)
    yield from _not_after_auxiliary(answer)
    yield from _not_before_verb(answer, PAST, "did not")
    yield from _not_before_verb(answer, THIRD, "does not")


def _polar_after(answer: str, end: int) -> bool:
    return bool(_POLAR.search(clause(answer, end)[1]))


def _without_not(answer: str) -> Iterator[Turn]:
    """ "was not built" and "did not build", without the "not"."""
    for m in re.finditer(rf"\b({_AUX}) not\b|\b({_AUX})n[’']t\b|\b(can)(?:not|[’']t)\b", answer, re.I):
        aux = m[1] or m[2] or m[3]
        rest = clause(answer, m.end())[1]
        if _POLAR.search(rest) or re.match(r" (?:only|just|until|all|every|necessarily)\b", rest):
            continue
        if aux.lower() not in ("did", "does", "do"):
            yield Turn(m.start(), m.end(), aux, True)
            continue
        verb = re.match(r" ([a-z]+)", answer[m.end() :])
        if not verb or verb[1] in ("have", "be", "so") or verb[1].endswith("ly"):
            continue
        base = verb[1]
        new = past(base) if aux.lower() == "did" else third(base) if aux.lower() == "does" else base
        yield Turn(m.start(), m.end() + verb.end(), same_case(m.group(), new), True)


def _without_never(answer: str) -> Iterator[Turn]:
    """ "never" becomes "always" or goes; "no longer" becomes "still"."""
    for m in re.finditer(
        r"\b(is|are|was|were|has|have|had|can|could|will|would) (never|no longer) (\w+)", answer
    ):
        if not _polar_after(answer, m.end()):
            word = {"never": "always" if m[1] in ("is", "are", "can") else "", "no longer": "still"}[m[2]]
            yield Turn(m.start(), m.end(), " ".join(filter(None, (m[1], word, m[3]))), True)
    for m in re.finditer(rf"\bnever ({'|'.join(PAST)})\b", answer):
        if not _polar_after(answer, m.end()):
            yield Turn(m.start(), m.end(), m[1], True)
    for m in re.finditer(r"\bno longer (\w+s)\b", answer):
        yield Turn(m.start(), m.end(), f"still {m[1]}", True)


def _without_nobody(answer: str) -> Iterator[Turn]:
    for m in re.finditer(r"\b(Nobody|No one)\b(?= \w+)", answer):
        if not _polar_after(answer, m.end()):
            yield Turn(m.start(), m.end(), "Somebody" if m[1] == "Nobody" else "Someone", True)


def _not_after_auxiliary(answer: str) -> Iterator[Turn]:
    """ "was not built" for "was built"."""
    for m in re.finditer(
        r"\b(is|are|was|were|can|could|will|would|should|must|may|might|has|have|had)\b", answer
    ):
        left, rest = clause(answer, m.end())[0], answer[m.end() :]
        if not _BE_NEXT.match(rest):
            continue
        if re.search(r"\b(?:there|that|which|who|what|not|no|never|if)\b", left, re.I):
            continue
        if m[1] in ("has", "have", "had") and not _PARTICIPLE.match(rest):
            continue
        if _polar_after(answer, m.end()) or left.strip() == m[1] or dependent(answer, m.start()):
            continue
        yield Turn(m.start(), m.end(), f"{m[1]} not", False)


def _not_before_verb(answer: str, bases: dict[str, str], aux: str) -> Iterator[Turn]:
    """ "did not build" for "built": for the first verb of a clause with a subject and no auxiliary."""
    other_verb = re.compile(rf"\b(?:{_AUX}|not|be|been)\b")
    for m in re.finditer(r"\b[a-z]+\b", answer):
        base = bases.get(m.group())
        if base is None or not _SUBJECT_END.search(answer[: m.start()]):
            continue
        if re.match(r"(?:left (?:on|in|over)|used to|set)\b", answer[m.start() :]):
            continue
        left, rest = clause(answer, m.start())
        if other_verb.search(left) or other_verb.search(rest.split(",")[0]) or re.match(r"\w+ by\b", rest):
            continue
        if not left.split() or any(word in PAST or word in THIRD for word in left.split()):
            continue
        if _POLAR.search(rest) or re.search(r"\b(?:both|all|each|every|no)\b", left, re.I):
            continue
        if dependent(answer, m.start()) or (aux == "does not" and left.split()[-1].endswith("s")):
            continue
        yield Turn(m.start(), m.end(), f"{aux} {base}", False)
