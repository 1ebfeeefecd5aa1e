"""Which sentences of a document bear an answer, by rule: the words of the answer that the question lacks."""

import re
from functools import lru_cache

from data_pipeline.perturb.edit import bare, occurs
from data_pipeline.perturb.facts import find_facts
from judge.floors.overlap import content_tokens, units
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Span

SHORT = {"en": 8, "zh": 16}
"""Words (characters in Chinese) up to which an answer counts as a span of the document."""
BEARS = 0.5
"""Share of an answer's telling words from which on a sentence may bear it."""
BLIND = 0.34
"""Share up to which what is left of a document is taken to say nothing of a claim."""
_LINE = re.compile(r"[^\n]+")
_BARE_WORD = re.compile(r"(?:yes|no|true|false|none|both|neither|是|否|不是|没有|有)\W*", re.I)


@lru_cache(maxsize=64)
def parts_of(document: str) -> tuple[Span, ...]:
    """What can be taken out of a document: its sentences; whole lines where it is a table or triples."""
    lines = tuple(Span(match.start(), match.end()) for match in _LINE.finditer(document) if match[0].strip())
    if len(lines) > 1 and sum("|" in document[line.start : line.end] for line in lines) > len(lines) / 2:
        return lines
    return sentence_spans(document)


@lru_cache(maxsize=1024)
def words_of(text: str, language: Language) -> frozenset[str]:
    """The content words of a text; kept, since the sentences of a document are asked for again and again."""
    return frozenset(content_tokens(units(text, language), language))


def telling(claim: str, question: str, document: str, language: Language) -> frozenset[str]:
    """The content words by which a claim is known: not those of the question, nor of the document's topic.

    A word of the topic stands in half of the document's parts, or more.
    """
    found = words_of(claim, language) - words_of(question, language)
    held = [words_of(document[part.start : part.end], language) for part in parts_of(document)]
    often = max(2, len(held) / 2)
    return frozenset(word for word in found if sum(word in words for words in held) < often) or found


def is_span(answer: str, document: str, language: Language) -> bool:
    """Is an answer a few words that stand in the document as they are? Then they are looked for as such."""
    return len(units(answer, language)) <= SHORT[language] and _stands_in(answer, document)


def can_be_missed(answer: str, language: Language) -> bool:
    """Can a short answer be told to be gone from a document? Not yes, nor a number that words can say."""
    digits = re.sub(r"\D", "", answer)
    if digits == bare(answer):
        return len(digits) >= 2 and int(digits) > 20
    return not _BARE_WORD.fullmatch(answer.strip()) and len(bare(answer)) >= (4 if language == "en" else 2)


def bearing_parts(document: str, claim: str, question: str, language: Language) -> list[int]:
    """Numbers of the parts (see :func:`parts_of`) that may bear a claim; empty where none surely does.

    A short claim is borne wherever it stands. A longer one by the parts that share most of its telling words.
    """
    parts = parts_of(document)
    texts = [document[part.start : part.end] for part in parts]
    if is_span(claim, document, language):
        return [number for number, text in enumerate(texts) if _stands_in(claim, text)]
    wanted = telling(claim, question, document, language)
    if not wanted:
        return []
    shares = [len(wanted & words_of(text, language)) / len(wanted) for text in texts]
    if max(shares, default=0.0) < BEARS:
        return []
    return [number for number, share in enumerate(shares) if share > BLIND]


def is_gone(left: str, document: str, claim: str, question: str, language: Language) -> bool:
    """Does nothing in what is left of a document bear a claim any more?

    A span (see :func:`is_span`) must not stand there, whole or by its telling words in one sentence. Of any
    other claim, no two sentences in a row may hold more than :data:`BLIND` of the telling words, and one of
    its facts, where it has any beyond the question, must be nowhere.
    """
    wanted = telling(claim, question, document, language)
    if not wanted:
        return False
    texts = [left[part.start : part.end] for part in parts_of(left)]
    held = [words_of(text, language) for text in texts]
    if is_span(claim, document, language):
        return not _stands_in(claim, left) and not any(wanted <= found for found in held)
    pairs = [one | two for one, two in zip(held, [*held[1:], frozenset()], strict=True)]
    if any(len(wanted & found) / len(wanted) > BLIND for found in pairs):
        return False
    facts = [fact.text for fact in find_facts(claim, language) if not occurs(fact.text, question)]
    return not facts or any(not occurs(fact, left) for fact in facts)


def _stands_in(claim: str, text: str) -> bool:
    return occurs(claim.strip(" .。"), text) or (len(bare(claim)) > 5 and bare(claim) in bare(text))
