"""The edit type ``order``: events are told in another order than that of the document."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.perturb.edit import Edit, occurs
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import find_facts, is_translation
from data_pipeline.perturb.meaning.support import (
    Candidate,
    bearing,
    exchanged,
    first_made,
    known,
    sentence_at,
    stems,
)
from judge.types import Language

# Events of which one cannot come after the other, whoever says so.
_FIXED = re.compile(
    r"\b(?:born|birth|died|dies|death|dead|killed|buried|found(?:ed|ing)|established|created"
    r"|built|construct\w+|designed|began|begin\w*"
    r"|start\w*|end(?:ed|s)?|from|between|until|till|closed|completed|finished|opened|later"
    r"|earlier|then|after|before|first|last|since|by|following"
    r"|return\w*|re-?\w+ed|graduat\w+|retir\w+|launch\w*|still|again|second|third|finally"
    r"|subsequent\w*|previous\w*|former\w*|renamed|replaced|while|will|opens|closes|neither"
    r"|nor|both|already|expires?|valid|necessary|deadline)\b",
    re.I,
)
_CITED = re.compile(r"[a-z]?\s?[;)\]]")
"""What follows the year of a citation."""
_FOLLOWED = re.compile(
    r"(?:(?<=^)|(?<=[,:;] )|(?<=\bis )|(?<=\bare )|(?<=\bwas )|(?<=\bwere )"
    r"|(?<=\bbe ))(?P<one>(?:the |a |an )?[a-z-]+(?: [a-z-]+){0,3}),? (?:which (?:is|was|are"
    r"|were) )?followed by (?P<two>(?:the |a |an )?[a-z-]+(?: [a-z-]+){0,3})(?=[.,;]| and |$)"
)


def order(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Exchange two dates of different events, what follows and what is followed, or where from and where to.

    The answer is faithful and its events are not the same, so that the new order contradicts the document;
    the document must name both.
    """
    if language != "en":
        return None
    found = [*_dates(answer, document), *_followed(answer, document), *_ways(answer, document)]
    return first_made("order", answer, document, rng, found)


def _dates(answer: str, document: str) -> Iterator[Candidate | None]:
    """Two dates of one form, of two events that could have come the other way round."""
    dates = [fact for fact in find_facts(answer, "en") if fact.kind == "date"]
    for number, one in enumerate(dates):
        for two in dates[number + 1 :]:
            if one.form != two.form or one.text == two.text or two.start - one.end < 12:
                continue
            part, other = sentence_at(answer, one.start), sentence_at(answer, two.start)
            if (
                part != other
                or not (_is_date(answer, one) and _is_date(answer, two))
                or _CITED.match(answer[one.end :])
                or _CITED.match(answer[two.end :])
            ):
                continue
            if _FIXED.search(answer[part.start : other.end]) or not (
                occurs(one.text, document) and occurs(two.text, document)
            ):
                continue
            if re.fullmatch(r"[^a-z]*(?:and|or|to|,)?[^a-z]*", answer[one.end : two.start]):
                continue
            yield exchanged(answer, (one.start, one.end), (two.start, two.end))


def _is_date(answer: str, fact: Fact) -> bool:
    """Is a year surely one, and no part of a name or a size?"""
    if fact.form != "year":
        return True
    before, after = answer[: fact.start], answer[fact.end :]
    return re.search(
        r"(?:\b(?:in|of|by|since|during|for|from|than)|[A-Z][a-z]+|\d,) $", before
    ) is not None and (re.match(r" ?[A-Z×x]", after) is None)


def _followed(answer: str, document: str) -> Iterator[Candidate | None]:
    """ "A, followed by B"."""
    for match in _FOLLOWED.finditer(answer):
        one, two = match["one"], match["two"]
        if not known(one, document) or not known(two, document) or stems(one) & stems(two):
            continue
        if is_translation(answer, document) or any("follow" in text for text in bearing(match[0], document)):
            yield exchanged(answer, match.span("one"), match.span("two"))


_MOVED = (
    r"(?:moved?|moving|moves|travel\w*|transferr\w*|sail\w*|flew|fly|flies|chang\w+|convert\w+"
    r"|switch\w*|spread\w*|spilled|relocat\w+|export\w*"
    r"|transmi\w+|pass\w*|promoted|evolv\w+|went|goes|renamed|shift\w*|jump\w*|translated|swam"
    r"|walk\w*|return\w*|ran|runs|transition\w*)"
)
_SIDE = (
    r"(?!(?:being|one|the next|the other|another|each)\b)(?:the |an? )?"
    r"(?:[A-Z][\w’'-]+(?: [A-Z][\w’'-]+){0,2}|[a-z-]+(?: [a-z-]+)?)"
)
_FROM = re.compile(
    rf"\b{_MOVED}\b(?: (?!from\b)[\w’'-]+){{0,5}} from (?P<one>{_SIDE}) to (?P<two>{_SIDE})"
    r"(?=[.,;:]|$| (?:in|on|by|and|after|via|at|with|because|during|for)\b)"
)


def _ways(answer: str, document: str) -> Iterator[Candidate | None]:
    """ "moved from A to B"."""
    for match in _FROM.finditer(answer):
        one, two = match["one"], match["two"]
        alike = one.split()[-1][0].isupper() == two.split()[-1][0].isupper()
        if alike and known(one, document) and known(two, document) and not stems(one) & stems(two):
            yield exchanged(answer, match.span("one"), match.span("two"))
