"""The edit type ``role``: the two sides of a relation change places ("A bought B" becomes "B bought A")."""

import itertools
import re
from collections.abc import Iterator
from random import Random

from data_pipeline.edits.edit import Edit, listed_together
from data_pipeline.edits.support import (
    Candidate,
    exchanged,
    first_made,
    known,
    lowered,
    plural,
    sentence_at,
    sentences,
)
from data_pipeline.edits.triples import triples
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import document_facts, is_translation
from data_pipeline.text.words import either

# A side of a comparison: a few words without a verb, a mark or another clause.
_WORD = (
    r"(?!(?i:and|or|but|than|that|which|who|when|while|because|as|is|are|was|were|be|been|has"
    r"|have|had|did|does|do|not"
    r"|can|could|may|might|will|would|should|after|before|during|if|either|both|those|each"
    r"|compared|rather|instead|since|although|where"
    r"|in|for|by|from|to|on|at|among|between|it|they|we|he|she|this|there|also|only)\b)[\w%'’/-]+"
)
_SIDE = rf"{_WORD}(?: {_WORD}){{0,6}}"
_PREP = r"(?:in|for|among|with|of|by|from|at|on|during|after|to)"
_VERSUS = (
    r"(?:than|,? rather than|,? but not|,? and not|,? instead of|(?:,? (?:as"
    r"|when))? ?compared (?:with|to)|,? relative to|,? as opposed to)"
)
_END = (
    r"(?=[.;,](?!\d)|\)|$| (?:and|but|when|while|because|during|at|as|after|before|is|are|was|were"
    r"|in|for|to|by|on)\b)"
)
_WITH_PREPOSITION = re.compile(
    rf"\b(?P<prep>{_PREP}) (?P<one>{_SIDE})(?P<mid>,? ?{_VERSUS}) (?P=prep) (?P<two>{_SIDE}){_END}"
)
_COMPARED = re.compile(
    rf"\b(?P<prep>in|for|among) (?P<one>{_SIDE}),?(?: when| as)? compared (?:with"
    rf"|to) (?P<two>{_SIDE})(?=[.;,](?!\d)|$)"
)
_PAST = r"had|did|\w{3,}ed"
_SUBJECT = re.compile(
    rf"(?:(?<=^)|(?<=that )|(?<=, ))(?P<one>{_SIDE})(?P<verb> (?:is|are|was|were|has|have"
    rf"|provides?|offers?|predicts?|tends?"
    rf"|orders?|requires?|appears?|seems?|shows?|leads?|results?|gives?|makes?|may be|might be"
    rf"|can be|should be|induces?|uses?|reduces?|increases?|yields?|produces?|causes?|achieves?"
    rf"|delivers?|identif(?:y|ies)"
    rf"|costs?|lasts?|weighs?|receives?|sells?|remains?|{_PAST})\b[^.;:]*?"
    rf"\b(?:more|less|fewer|higher|lower|better|worse|greater|reduced|increased|improved"
    rf"|superior|\w{{3,}}er)\b[^.;:]*?)"
    rf"(?P<mid> than|,?(?: when| as)? compared (?:with|to)) (?P<two>{_SIDE})(?=[.;,](?!\d)|$)"
)
_THOSE = re.compile(
    rf"\b(?P<tie>with|without|treated|in|at|on|receiving|undergoing"
    rf"|from) (?P<one>{_SIDE}) (?P<verb>(?:is|are|was|were|has|have|had"
    rf"|may|showed|\w{{3,}}ed)\b[^.;:]*?)(?: than|,? ?(?:when |as )?compared (?:with"
    rf"|to)) (?:those|that|the ones|patients) (?P=tie) (?P<two>{_SIDE}){_END}"
)
_CUE = re.compile(r"\b(?:than|compared|but not|and not|instead of|relative to|opposed to)\b")
_NO_SIDE = re.compile(
    r"^(?:with|like|unlike|the usual|the \d+"
    r"|this|these|it|they|we|our|there|that|those|other|others|average|expected|previous\w*"
    r"|reported|usual|any"
    r"|its|their|his|her|such|the (?:same|other|rest|average|latter|former|others)|\d|one|two"
    r"|three|half|four|five|six|seven|eight|nine|[$£€]|what|however"
    r"|overall|therefore|thus|here|more|less|most|normal|ever|once|where|when|how|twenty|ten"
    r"|hundred\w*|thousand\w*|million\w*|an? \w+ of|RMB|US|everyone|anyone)\b",
    re.I,
)
_NO_RELATION = re.compile(
    r"\b(?:no|not|n't|other|similar|same|by)\b|\b(?:more|less|fewer"
    r"|rather|other|no (?:later|earlier))$"
)
"""What keeps a comparison from being one of two sides."""
_GROUPS = frozenset(
    (
        "men", "women", "boys", "girls", "children", "adults", "patients", "males", "females", "smokers",
        "controls",
    )
)  # fmt: skip
# What stands between two names of which the one does something to the other.
_VERBS = either("relation_verbs_en")
_BETWEEN = re.compile(
    rf" (?:(?:has|have|had|was|were|is|are|later|also|once|first|then|been|being|will) )*(?:{_VERBS})"
    r"(?: (?:by|over|from))? (?:the |an? )?"
    r"|(?: (?:is|was|lies|lay|are|were))?,? (?:located )?(?:just )?(?:to the )?(?:north|south"
    r"|east|west|north-?east|north-?west|south-?east"
    r"|south-?west) of (?:the )?"
    r"|[’']s (?:coach|manager|boss|teacher|mentor|tutor|lawyer|agent|deputy|predecessor"
    r"|successor|assistant|adviser"
    r"|advisor|parent company|owner|publisher|supplier|rival’s|subsidiary),? "
    r"|,? (?:(?:is|was) )?(?:the|an?) (?:coach|manager|boss|teacher|mentor|tutor|lawyer|agent"
    r"|deputy|predecessor"
    r"|successor|assistant|adviser|advisor|parent company|owner|subsidiary|suburb|part|student"
    r"|pupil|follower) (?:of|to) (?:the )?"
    r"| (?:is|was|are|were) (?:\w+er|more \w+|less \w+) than "
)
_CAN_STAND_BEFORE = re.compile(
    r"(?:^|[.!?:;,(]\s|\b(?:that|when|while|and|but|after|before|because|as|by|of|to|in|the|where)\s|\n)$"
)
_PRONOUN = re.compile(r"\b(?:he|she|his|her|him|himself|herself|its|their|they)\b", re.I)


def role(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Let two persons, bodies, places or groups of a relation or comparison change places.

    A relation counts only if it cannot hold both ways ("beat", "succeeded", "is higher in"); what the answer
    says of it is faithful, so that the reverse contradicts the document. Both sides must be known to it.
    """
    if triples(document):
        return None
    found = list(_comparisons(answer, document))
    if not is_translation(answer, document):  # the kinds of names are told by the document
        found += _names(answer, document)
    return first_made("role", answer, document, rng, found)


def _comparisons(answer: str, document: str) -> Iterator[Candidate | None]:
    """ "higher in A than in B", "A is safer than B"."""
    for part in sentences(answer):
        text = answer[part.start : part.end]
        if not _CUE.search(text):  # the patterns below cost far more
            continue
        for match in (
            m for pattern in (_WITH_PREPOSITION, _COMPARED, _THOSE) for m in pattern.finditer(text)
        ):
            alike = match.re is not _COMPARED or _akin(match["one"], match["two"])
            if alike and _sides(match["one"], match["two"], document):
                yield _shifted(text, match, part.start)
        for match in _SUBJECT.finditer(text):
            one, two = match["one"], match["two"]
            if "compared" in match["mid"] and not _akin(one, two):
                continue
            if not _sides(one, two, document) or _NO_RELATION.search(match["verb"]):
                continue
            fixed = re.match(rf" (?:{_PAST})\b", match["verb"])
            if not fixed and plural(one) != plural(two):
                continue
            inner = lowered(one, document) if match.start() == 0 else one
            if inner is not None and not _PRONOUN.search(match["verb"]):
                start, end = match.span("one")[0] + part.start, match.end("two") + part.start
                opener = two[0].upper() + two[1:] if match.start() == 0 else two
                yield start, end, f"{opener}{match['verb']}{match['mid']} {inner}"


def _akin(one: str, two: str) -> bool:
    """Are two things of one sort: do they share a word, or are they both groups of people?"""
    first, second = ({word.lower() for word in re.findall(r"\w{3,}|[A-Z]{2}", side)} for side in (one, two))
    return bool(first & second) or (one.split()[-1].lower() in _GROUPS and two.split()[-1].lower() in _GROUPS)


def _shifted(text: str, match: re.Match[str], offset: int) -> Candidate | None:
    found = exchanged(text, match.span("one"), match.span("two"))
    return (found[0] + offset, found[1] + offset, found[2]) if found else None


def _sides(one: str, two: str, document: str) -> bool:
    """Are these two things that can change places in a comparison, both of them of the document?"""
    return (
        not _NO_SIDE.match(one)
        and not _NO_SIDE.match(two)
        and known(one, document, 0.5)
        and known(two, document, 0.5)
        and len(one) < 70
        and len(two) < 70
    )


def _names(answer: str, document: str) -> Iterator[Candidate | None]:
    """ "A beat B", "A is north of B"; names of one kind only."""
    kinds: dict[str, Fact] = {fact.text: fact for fact in document_facts("entity", answer, document, "en")}
    spots = sorted(
        (match.start(), match.end(), name)
        for name in kinds
        if name in answer
        for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-]| [A-Z\d])", answer)
    )
    for first, second in itertools.pairwise(spots):
        (start, stop, one), (again, end, two) = first, second
        if stop > again or not _same_kind(kinds[one], kinds[two]) or one in two or two in one:
            continue
        if not _BETWEEN.fullmatch(answer, stop, again) or not _CAN_STAND_BEFORE.search(answer[:start]):
            continue
        whole = sentence_at(answer, start)
        if _PRONOUN.search(answer[start : whole.end]) or re.match(r"[’']s\b", answer[end:]):
            continue
        if listed_together(one, two, document):
            continue
        yield exchanged(answer, (start, stop), (again, end))


def _same_kind(one: Fact, two: Fact) -> bool:
    kinds = {one.form.split("-")[0], two.form.split("-")[0]}
    return len(kinds) == 1 and not kinds & {"demonym", "code"}
