"""Noun phrases in English text that a word list is sure of: a noun with one to three words that describe it."""

import re
from collections.abc import Iterator
from functools import lru_cache

from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.words import words

_FUNCTION_WORDS = frozenset({*words("function_words_en"), *words("stop_words_en"), *words("negations_en")})
_VAGUE = frozenset(words("vague_words_en"))
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_BEFORE = re.compile(
    r"(?:^|[.,;:(]\s*|\b(?:the|a|an|of|in|on|by|with|for|from|to|as|into|between|and|or|no|any|than|their|its"
    r"|his|her|is|are|was|were|through|using|via|during|after|before|against|without|called|of the)\s)$",
    re.I,
)
_AFTER = re.compile(
    r"\s*(?:$|[.,;:)]|\s(?:of|in|on|by|with|for|from|to|as|and|or|is|are|was|were|which|that|who|than|has|have"
    r"|had|can|may|will|during|after|before|at|between|into|through)\b)"
)
_LONGEST = 4


@lru_cache(maxsize=64)
def noun_phrases(text: str) -> tuple[Fact, ...]:
    """The noun phrases of a text of two to four words in small letters; ``unit`` is the head, the last word."""
    return tuple(_phrases(text))


def _phrases(text: str) -> Iterator[Fact]:
    run: list[re.Match[str]] = []
    for match in _WORD.finditer(text):
        if run and text[run[-1].end() : match.start()] != " ":
            yield from _phrase(text, run)
            run = []
        if _describes(match[0]):
            run.append(match)
        else:
            yield from _phrase(text, run)
            run = []
    yield from _phrase(text, run)


def _phrase(text: str, run: list[re.Match[str]]) -> Iterator[Fact]:
    if not 2 <= len(run) <= _LONGEST:
        return
    start, end = run[0].start(), run[-1].end()
    head = run[-1][0]
    if "NOUN" not in _kinds(head) or head in _VAGUE or run[0][0] in _VAGUE:
        return
    if _BEFORE.search(text[max(0, start - 12) : start]) and _AFTER.match(text[end : end + 12]):
        yield Fact("phrase", text[start:end], start, end, "phrase", head)


@lru_cache(maxsize=65536)
def _kinds(word: str) -> frozenset[str]:
    """The parts of speech that a word may be; those of its last part where it has a hyphen."""
    import lemminflect

    return frozenset(lemminflect.getAllLemmas(word.rsplit("-", 1)[-1]))


def _describes(word: str) -> bool:
    """Can a word be a noun, or stand before one, and is it no likely verb?"""
    if len(word) < 3 or word in _FUNCTION_WORDS or word.endswith("ly"):
        return False
    kinds = _kinds(word)
    if "VERB" in kinds and (word.endswith(("ed", "ing", "s")) and "ADJ" not in kinds):
        return False
    return bool(kinds & {"NOUN", "ADJ"})
