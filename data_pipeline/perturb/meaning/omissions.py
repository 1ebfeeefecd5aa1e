"""The edit type ``omission``: a restriction of the document is dropped, so that the statement goes too far.

Left out alone, a restriction would tell by its absence. So it gives way to its contrary in the same place
("except" to "including", "only" to "also", "in women" to "in men").
"""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.perturb.edit import Edit, occurs, same_case
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.meaning.support import (
    Candidate,
    any_of,
    bearing,
    first_made,
    sentence_at,
)
from data_pipeline.perturb.words import pairs
from judge.types import Language

_PHRASE = (
    r" (?:in|on|for|with|to|by|at|among|from|when|if|during|after"
    r"|within|through)\b(?! the other| fact)"
)
_THING = r" (?![^,.;]*\b(?:is|are|was|were|has|have|had|done|possible|can|will|may)\b)\D[^,.;]{2,60}[,.;]"
# A restriction, the contrary that may stand in its place, what must follow, and how a document restricts.
_CONTRARY: tuple[tuple[str, str, str, str], ...] = (
    (r"(?<!not )(?<!n[’']t )(?<!the )only", "also", _PHRASE, r"\b(?:only|solely|exclusively|just|alone)\b"),
    (r"(?<!but )also", "only", _PHRASE, r"\b(?:also|too|as well|in addition)\b"),
    (r"(?:except for|with the exception of)", "including", _THING, r"\bexcept(?:ion|ing)?\b|\bexclud"
r"|\bother than\b|\bapart from\b"),
    (r"except(?! for| that| as"
r"| when| if| in| by)", "including", _THING, r"\bexcept(?:ion|ing)?\b|\bexclud|\bother than\b"),
    (r"(?:excluding|not including|apart from)", "including", r" ", r"\bexcept|\bexclud|\bnot includ"
r"|\bother than\b|\bapart from\b"),
    (r"(?<=, )including(?= (?:the |all |those |\d))", "excluding", r" ", r"\b(?:includ|such as)"),
    (r"(?<=\()(?:excluding|not including)", "including", r" ", r"\bexclud|\bnot includ"),
    (r"even (?=if|when|after|in|with)", "only ", "", r"\beven\b|\bregardless\b"),
    (r"only (?=if|when|after)", "even ", "", r"\bonly\b|\bunless\b"),
    (r"(?<!, )unless", "even if", r" ", r"\bunless\b|\bexcept\b|\bonly if\b"),
)  # fmt: skip
_BODY = re.compile(
    r"\b(?:pregnan\w*|birth\w*|breast\w*|ovar\w*|uter\w*|cervi\w*|prostat\w*|IVF|fetal|foet\w*"
    r"|maternal|menopaus\w*|mothers?|gyn\w*"
    r"|menstru\w*|testic\w*|penile|paediatric|pediatric|childhood|parents?|vagin\w*|hysterec\w*|years)\b",
    re.I,
)
"""Where a group cannot be another one."""
# Groups to which a finding is restricted, and those that it is then said of instead.
_OTHER: dict[str, tuple[str, ...]] = {}
for _one, _two in pairs("groups_en"):
    _OTHER[_one] = (*_OTHER.get(_one, ()), _two)
    _OTHER[_two] = (*_OTHER.get(_two, ()), _one)
_GROUP = re.compile(
    rf"\b(?:in|among|for|of|by) (?:the |both |all |most |these "
    rf"|our )?(?P<group>{any_of(tuple(_OTHER))})\b(?![-’'])"
)


def omission(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Drop a restriction that the document makes: its contrary takes its place."""
    if language != "en" or is_translation(answer, document):
        return None
    found = [*_contraries(answer, document), *_groups(answer, document)]
    return first_made("omission", answer, document, rng, found)


def _contraries(answer: str, document: str) -> Iterator[Candidate]:
    for old, new, after, said in _CONTRARY:
        for match in re.finditer(rf"(?<![\w-])(?:{old})(?![\w-])(?={after})", answer):
            if re.search(r"\bnot (?:\w+ ){0,2}$", answer[: match.start()]):
                continue
            part = sentence_at(answer, match.start())
            texts = bearing(answer[part.start : part.end], document)
            if any(re.search(said, text, re.I) for text in texts) and not any(
                re.search(rf"\b{re.escape(new.strip())}\b", text, re.I) for text in texts
            ):
                yield match.start(), match.end(), same_case(match[0], new)


def _groups(answer: str, document: str) -> Iterator[Candidate]:
    """ "in women" becomes "in men", where the document says it of women only, and speaks of men elsewhere."""
    for match in _GROUP.finditer(answer):
        old, span = match["group"], match.span("group")
        part = sentence_at(answer, match.start())
        text = answer[part.start : part.end]
        texts = bearing(text, document, 0.4)
        if _BODY.search(text) or not any(occurs(old, said) for said in texts):
            continue
        for new in _OTHER[old]:
            if (
                occurs(new, document)
                and not occurs(new, answer)
                and not any(occurs(new, said) for said in texts)
            ):
                yield *span, new
