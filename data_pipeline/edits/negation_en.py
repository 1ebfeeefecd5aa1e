"""Where the polarity of an English statement can be flipped."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from data_pipeline.edits.clauses import clause, dependent
from data_pipeline.edits.edit import Turn, same_case
from data_pipeline.text.clauses_en import inflect
from data_pipeline.text.words import words

_AUX = r"(?:is|are|was|were|has|have|had|can|could|will|would|should|does|do|did)"
# Words that mean something else, or sound odd, once the polarity of their clause is flipped.
_POLAR = re.compile(
    r"\b(?:any\w*|either|yet|at all|ever|neither|nor|only|no|never|nothing|nobody|none|without|hardly|few"
    r"|both)\b|n[’']t\b|\bnot\b"
    r"|\b(?:at (?:most|least)|up to|until|each|every|all|more than|less than|fewer than|also|still)\b",
    re.I,
)
# The end of a subject: a word that can stand right before its verb.
_SUBJECT_END = re.compile(
    r"(?:\b(?!(?:the|a|an|his|her|its|their|of|by|and|or|to|for|with|in|on|at|from|be|been|was|were|is|"
    r"are|has|have|had|not|being|newly|first|which|when|as|than|also|then|never|this|these|those|our|such|any"
    r"|some|more|most|other)\b)[\w’'-]+) $",
    re.I,
)
_DEGREE = (
    r"(?:significantly|strongly|closely|directly|always|generally|independently|very|highly|particularly)"
)
_STATED = re.compile(
    rf"\b(?P<aux>is|are|was|were|has been|have been|had been|can|could|should|will|would)"
    rf"(?= (?:{_DEGREE} )?(?P<next>[a-z]+))"
)
_NO_VERBS = ("have", "be", "so", "and", "or", "but", "in", "on", "at", "to", "for", "with", "when", "if")


ASKS_YES_OR_NO = re.compile(
    r"(?:^|[:,.?] )(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|must|may) ", re.I
)
_MODAL = frozenset(("can", "could", "should", "will", "would"))


def english_negations(answer: str, question: str) -> Iterator[Turn]:
    """Places where the polarity can be flipped: first negations to remove, then places to insert one.

    Negations are inserted only where people write them: in an answer to a yes/no question, in a sentence that
    speaks of what was asked; without a question, after "will" or "would".
    """
    yield from _without_not(answer)
    asked = ASKS_YES_OR_NO.search(question) is not None
    for turn in (*_not_after_auxiliary(answer), *_not_before_verb(answer)):
        if _GOES_ON_ABOUT_IT.search(_sentence(answer, turn.start)):
            continue
        if (asked and _speaks_of(answer, turn.start, question)) or (
            not question and answer[turn.start : turn.end].lower() in ("will", "would")
        ):
            yield turn


_GOES_ON_ABOUT_IT = re.compile(
    r"^(?:This|These|Such|While|Although|Despite|Whereas)\b"
    r"|, (?:making|with|suggesting|indicating|allowing|leading|thus|so|which|and as)\b"
    r"|\band (?:should|can|could|may|would|will|is|are|was|were)\b"
    r"|\b(?:regardless|even|may|might|approach would)\b"
)
"""Marks of a sentence whose other half would contradict a denial, or that depends on the one before."""


def _sentence(answer: str, start: int) -> str:
    """The sentence around a place."""
    left, right = re.split(r"[.!?]\s+", answer[:start])[-1], re.split(r"[.!?](?:\s|$)", answer[start:])[0]
    return left + right


def _speaks_of(answer: str, start: int, question: str) -> bool:
    """Does the sentence around a place share a long word with the question?"""
    stems = {word[:6] for word in re.findall(r"[a-z]{5,}", _sentence(answer, start).lower())}
    return any(word[:6] in stems for word in re.findall(r"[a-z]{5,}", question.lower()))


def _polar_after(answer: str, end: int) -> bool:
    return bool(_POLAR.search(clause(answer, end)[1]))


def _without_not(answer: str) -> Iterator[Turn]:
    """ "was not built" and "did not build", without the "not"."""
    for m in re.finditer(rf"\b({_AUX}) not\b|\b({_AUX})n[’']t\b|\b(can)(?:not|[’']t)\b", answer, re.I):
        aux = m[1] or m[2] or m[3]
        rest = clause(answer, m.end())[1]
        if _POLAR.search(rest) or re.match(r" (?:only|just|until|all|every|necessarily)\b", rest):
            continue
        if re.search(r"\b(?:or|but|instead|rather)\b", rest) or re.search(
            r"\b(?:who|which|that)\b|\b(?:also|so) $", clause(_own_clauses(answer), m.start())[0]
        ):
            continue  # "not A but B" and "those who do not" say something else without the "not"
        if aux.lower() not in ("did", "does", "do"):
            yield Turn(m.start(), m.end(), aux, True)
            continue
        verb = re.match(r" ([a-z]+)", answer[m.end() :])
        if not verb or verb[1] in _NO_VERBS or verb[1].endswith(("ly", "ways", "ten", "ever")):
            continue
        base = verb[1]
        form = {"did": "VBD", "does": "VBZ"}.get(aux.lower())
        new = inflect(base, form) if form else base
        yield Turn(m.start(), m.end() + verb.end(), same_case(m.group(), new), True)


_REPORTED = re.compile(
    r"(\b(?:suggest|show|find|found|indicate|conclude|demonstrate|confirm|reveal|believe|said|say|report)"
    r"\w*) that "
)


def _own_clauses(answer: str) -> str:
    """The text with "show that" turned into "show:", length kept: what follows is denied on its own."""
    return _REPORTED.sub(lambda match: f"{match[1]}:     ", answer)


def _not_after_auxiliary(answer: str) -> Iterator[Turn]:
    """ "was not associated" for "was associated": only before words that people deny in practice."""
    answer = _own_clauses(answer)
    for m in _STATED.finditer(answer):
        if m["aux"] in _MODAL:
            if m["next"].endswith("ly") or m["next"] in _NOT_AFTER_MODAL:
                continue
        elif m["next"] not in _DENIED:
            continue
        left = clause(answer, m.start())[0]
        if re.search(r"\b(?:there|that|which|who|what|if|it)\b", left, re.I) or not left.strip():
            continue
        if _POLAR.search(left) or _polar_after(answer, m.end()) or dependent(answer, m.start()):
            continue
        first, _, rest = m["aux"].partition(" ")
        denied = "cannot" if first == "can" else f"{first} not"
        yield Turn(m.start(), m.end("aux"), f"{denied} {rest}".strip(), False)


def _not_before_verb(answer: str) -> Iterator[Turn]:
    """ "did not affect" for "affected": for verbs of findings that are the first verb after a subject."""
    answer = _own_clauses(answer)
    for m in re.finditer(r"\b[a-z]+\b", answer):
        base, aux = _finding_verbs().get(m.group(), ("", ""))
        if not base or not _SUBJECT_END.search(answer[: m.start()]):
            continue
        left, rest = clause(answer, m.start())
        if _OTHER_VERB.search(left) or re.match(r"\w+ by\b", rest) or _POLAR.search(rest):
            continue
        if _POLAR.search(left) or dependent(answer, m.start()):
            continue
        if len(left.split()) < 2 or left.split()[-1].endswith("ly"):
            continue  # "significantly improved"
        if aux == "does not" and left.split()[-1].endswith("s"):
            continue
        yield Turn(m.start(), m.end(), f"{aux} {base}", False)


_OTHER_VERB = re.compile(rf"\b(?:{_AUX}|not|be|been|to|that|which|who)\b")
_NOT_AFTER_MODAL = ("also", "still", "even", "just", "then", "now", "not", "never", "always", "have", "help")
_DENIED = frozenset(words("denied_en"))


@cache
def _finding_verbs() -> Mapping[str, tuple[str, str]]:
    """Past and third-person forms of verbs of findings, with base form and denying auxiliary."""
    bases = words("denied_verbs_en")
    return {
        inflect(base, form): (base, aux)
        for form, aux in (("VBD", "did not"), ("VBZ", "does not"))
        for base in bases
    }
