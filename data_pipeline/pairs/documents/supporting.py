"""Which parts of a document support an answer, by rule: those with the answer's words beyond the question's.

Words are compared by stem, since the support of a claim often uses other forms of the same words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest

from data_pipeline.edits.edit import bare, occurs
from data_pipeline.pairs.documents.parts import texts_of
from data_pipeline.text.content import words_of
from data_pipeline.text.facts import find_facts
from data_pipeline.text.numbers import numbers, values
from judge.baselines.overlap import units
from judge.types import Language

SHORT = {"en": 8, "zh": 16}
"""Most words (characters in Chinese) of an answer that counts as a span of the document."""
SUPPORTS = 0.34
"""At least one supporting part holds this share of an answer's telling words ..."""
SUPPORT = 0.6
"""... and all supporting parts together hold this share."""
HINTS = 0.25
"""Parts above this share may contribute support, and count too."""
BLIND = {"en": 0.25, "zh": 0.34}
"""Up to this share, two consecutive parts are taken to say nothing of a claim."""
GONE = {"en": 0.5, "zh": 0.4}
"""Share of a claim's telling words in the document that must be missing from what is left of it."""
SHORTENED = {"en": 0.5, "zh": 0.2}
"""Share of a short answer's words that may stand for it, like the short name of a party or person ..."""
RECALLS = {"en": 0.2, "zh": 0.1}
"""... if this share of the question's words is there too."""
LONG_SPAN = 4
"""From this many words, half of a short answer may stand for all of it anywhere."""
FAR = 0.2
"""Up to this share of a question's words, a sentence is not about what it asks."""
ABOUT = 0.4
"""From this share on, it is."""
_AIM = re.compile(
    r"\b(?:aim\w*|purpose|objectives?|goal|sought|whether|hypothes\w+|unclear|unknown|controvers\w+"
    r"|(?:^|was |study |were )to (?:\w+ly )?(?:determine|evaluate|assess|examine|investigate|compare|explore"
    r"|test|analy[sz]e|identify|study|describe|establish|validate))\b"
    r"|旨在|目的|是否",
    re.I,
)
"""Marks of a sentence that says what a study asked, not what it found."""
_FINDING = re.compile(r"\b[Pp] ?[<=>]|\b(?:CI|odds|hazard|relative risk|significan\w+|correlat\w+)\b|\d ?%\)")
"""Marks of a result. A conclusion may rest on one and share few of its words."""
_BARE_WORD = re.compile(r"(?:yes|no|true|false|none|both|neither|是|否|不是|没有|有)\W*", re.I)


def in_pairs(held: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The words of each part and the next combined; those of the last part alone. Empty without parts."""
    nothing: frozenset[str] = frozenset()
    return [one | two for one, two in zip_longest(held, held[1:], fillvalue=nothing)]


def telling(claim: str, question: str, document: str, language: Language) -> frozenset[str]:
    """The content words that identify a claim: not those of the question, nor of the document's topic.

    Topic words are those in at least half of the document's parts. If no others are left, they are kept.
    """
    found = words_of(claim, language) - words_of(question, language)
    held = words_of_parts(document, language)
    often = max(2, len(held) / 2)
    return frozenset(word for word in found if sum(word in words for words in held) < often) or found


def is_span(answer: str, document: str, language: Language) -> bool:
    """Is an answer a few words that occur verbatim in the document? Then it is searched for as such."""
    return len(units(answer, language)) <= SHORT[language] and stands_in(answer, document)


def can_be_missed(answer: str, language: Language) -> bool:
    """Can rules tell that a short answer is gone from a document? Not for "yes" or numbers often in words."""
    digits = re.sub(r"\D", "", answer)
    if digits == bare(answer):
        return len(digits) >= 2 and int(digits) > 20
    return not _BARE_WORD.fullmatch(answer.strip()) and len(bare(answer)) >= (4 if language == "en" else 3)


def supporting_parts(document: str, claim: str, question: str, language: Language) -> list[int]:
    """Numbers of the parts (see :func:`parts_of`) that may support a claim; empty if none surely does.

    A short claim is supported wherever it occurs, except in parts that are not about the question (see
    :func:`elsewhere_too`). A longer one is supported by parts that share its telling words or a fact. Parts
    that only raise the question do not count as support, but are included.
    """
    texts = texts_of(document)
    if is_span(claim, document, language):
        elsewhere = elsewhere_too(document, claim, question, language)
        return [n for n, text in enumerate(texts) if stands_in(claim, text) and n not in elsewhere]
    wanted = telling(claim, question, document, language)
    if not wanted:
        return []
    held = words_of_parts(document, language)
    shares = [len(wanted & words) / len(wanted) for words in held]
    facts = _facts(claim, question, language)
    holding = [[number for number, text in enumerate(texts) if occurs(fact, text)] for fact in facts]
    often = max(2, len(texts) / 4)
    by_fact = {number for numbers in holding if len(numbers) <= often for number in numbers}
    found = [number for number, share in enumerate(shares) if share > HINTS or number in by_fact]
    stated = [number for number in found if not _AIM.search(texts[number])]
    together = wanted & frozenset().union(*(held[number] for number in stated))
    best = max((shares[number] for number in stated), default=0.0)
    return found if best >= SUPPORTS and len(together) >= SUPPORT * len(wanted) else []


def elsewhere_too(document: str, claim: str, question: str, language: Language) -> list[int]:
    """Parts with a short answer that do not answer the question: they and the part before share hardly a word
    with the question, while another part with the answer shares many. Only for numbers, dates and names, and
    not in Chinese, where pairs of characters do not measure that.
    """
    if language == "zh" or not (find_facts(claim, language) or re.search(r"\d", claim)):
        return []
    wanted = words_of(question, language)
    held = words_of_parts(document, language)
    at = [number for number, text in enumerate(texts_of(document)) if stands_in(claim, text)]
    about = {n: len(wanted & (held[n] | held[max(n - 1, 0)])) / len(wanted) for n in at} if wanted else {}
    if max(about.values(), default=0.0) < ABOUT:
        return []
    return [number for number, share in about.items() if share <= FAR]


def is_gone(left: str, document: str, claim: str, question: str, language: Language) -> bool:
    """Does nothing in what is left of a document support a claim any more?

    A span (see :func:`is_span`) must be gone, verbatim and by its words in one part, and also shortened
    (:data:`SHORTENED`) near words of the question, except in parts of :func:`elsewhere_too`. For any other
    claim, no two consecutive parts may hold more than :data:`BLIND` of the telling words; at least
    :data:`GONE` of those in the document must be gone, and one of the claim's facts beyond the question, if
    the document had any; and no result about the claim may be left.
    """
    wanted = telling(claim, question, document, language)
    if not wanted:
        return False
    held = words_of_parts(left, language)
    if is_span(claim, document, language):
        texts = texts_of(document)
        elsewhere = {texts[number] for number in elsewhere_too(document, claim, question, language)}
        rest = [text for text in texts_of(left) if text not in elsewhere]
        if _is_stated(claim, rest) or any(wanted <= words_of(text, language) for text in rest):
            return False
        return not _is_shortened(claim, question, rest, language)
    if any(len(wanted & found) / len(wanted) > BLIND[language] for found in in_pairs(held)):
        return False
    about = words_of(f"{question} {claim}", language)
    findings = (found for found, text in zip(held, texts_of(left), strict=True) if _FINDING.search(text))
    if any(len(about & found) >= 2 for found in findings):
        return False
    before = wanted & frozenset().union(*words_of_parts(document, language))
    if len(before - frozenset().union(*held)) < GONE[language] * len(before):
        return False
    facts = [fact for fact in _facts(claim, question, language) if occurs(fact, document)]
    return not facts or any(not occurs(fact, left) for fact in facts)


def _is_shortened(claim: str, question: str, texts: Sequence[str], language: Language) -> bool:
    """Do two consecutive texts hold enough of a short answer to stand for all of it?

    Topic words count too, since a short name may be one.
    """
    asked = words_of(question, language)
    own = words_of(claim, language) - asked or words_of(claim, language)
    enough, recalls = SHORTENED[language] * len(own), RECALLS[language] * len(asked - own)
    anywhere = 2 * enough if language == "zh" or len(own) < LONG_SPAN else enough
    least = 2 if language == "zh" else 1
    return any(
        len(own & found) >= anywhere
        or (len(own & found) >= enough and len(asked & found) >= max(least, recalls))
        for found in in_pairs([words_of(text, language) for text in texts])
    )


def stands_in(claim: str, text: str) -> bool:
    """Is a short answer in a text, ignoring marks at its end and between its words?"""
    return occurs(claim.strip(" .。"), text) or (len(bare(claim)) > 5 and bare(claim) in bare(text))


def _is_stated(claim: str, texts: Sequence[str]) -> bool:
    """Is a short answer in one of the texts, also as initials or as a number in another spelling?"""
    initials = "".join(word[0] for word in claim.split() if word[0].isupper())
    short = re.compile(rf"\b{initials}\b") if len(initials) > 2 else None
    counted = {number.value for number in numbers(claim)}
    return any(
        stands_in(claim, text)
        or (short is not None and short.search(text) is not None)
        or (len(counted) == 1 and bool(counted & values(text)))
        for text in texts
    )


def _facts(claim: str, question: str, language: Language) -> list[str]:
    return [fact.text for fact in find_facts(claim, language) if not occurs(fact.text, question)]


@lru_cache(maxsize=256)
def words_of_parts(document: str, language: Language) -> tuple[frozenset[str], ...]:
    """The content words of each part of a document. Cached, since many claims are looked up in it."""
    return tuple(words_of(text, language) for text in texts_of(document))
