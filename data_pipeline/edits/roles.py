"""The edit type ``role``: the two sides of a comparison change places ("A is safer than B")."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.edits.clauses import sentences
from data_pipeline.edits.edit import Edit, Swap
from data_pipeline.edits.exchange import exchanged, first_made
from data_pipeline.text.content import keys
from data_pipeline.text.facts import is_translation
from data_pipeline.text.triples import triples_of

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
_PRONOUN = re.compile(r"\b(?:he|she|his|her|him|himself|herself|its|their|they)\b", re.I)


def role(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Let two things or groups of a comparison change places ("higher in A than in B").

    What the answer says of it is faithful, so that the reverse contradicts the document. Both sides must be
    known to it.
    """
    if triples_of(document):
        return None
    return first_made("role", answer, document, rng, _comparisons(answer, document))


def _comparisons(answer: str, document: str) -> Iterator[Swap | None]:
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


def _shifted(text: str, match: re.Match[str], offset: int) -> Swap | None:
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


def known(text: str, document: str, least: float = 1.0) -> bool:
    """Does the document hold such a share of the content words of a phrase?

    A document in another language knows every phrase: only a translation of it can say them.
    """
    wanted = keys(text)
    return is_translation(text, document) or len(wanted & keys(document)) >= least * len(wanted)


def lowered(phrase: str, document: str) -> str | None:
    """A phrase from the start of a sentence as it stands inside one; ``None`` where that cannot be told."""
    head = re.match(r"\w+", phrase)
    if head is None or not phrase[0].isupper() or not head[0][1:].islower():
        return phrase
    word = head[0].lower()
    if word in ("the", "a", "an", "most", "some", "all", "many", "this", "these") or occurs_lower(
        word, document
    ):
        return phrase[0].lower() + phrase[1:]
    return phrase if re.search(rf"[a-z,] {re.escape(head[0])}\b", document) else None


def occurs_lower(word: str, document: str) -> bool:
    """Does the word stand in the document without a capital?"""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", document) is not None


def plural(phrase: str) -> bool:
    """Does a noun phrase look like a plural, or like two things?"""
    head = re.split(r" (?:of|with|without|in|for|from|who|aged|at|on|to)\b", phrase)[0]
    last = head.split()[-1].lower() if head.split() else ""
    if re.search(r"\band\b", head):
        return True
    return last in ("men", "women", "children", "people", "mice", "patients") or bool(
        re.search(r"[^su’']s$", last) and not re.search(r"(?:is|ics|itis|osis|ness)$", last)
    )
