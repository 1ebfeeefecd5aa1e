"""How much of an answer is in its document: three shares that need no model."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from judge.types import Language, Sample

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NOT_WORD = re.compile(r"[\W_]+")


def units(text: str, language: Language) -> list[str]:
    """The running units of a text: lowercased words in English, single characters in Chinese."""
    if language == "zh":
        return list(_NOT_WORD.sub("", text.lower()))
    return _WORD.findall(text.lower())


def content_tokens(running: Sequence[str], language: Language) -> set[str]:
    """Words that are not stop words (English), or character bigrams (Chinese)."""
    if language == "zh":
        return {first + second for first, second in pairwise(running)} or set(running)
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    # A text of stop words alone ("no") is compared as it is.
    return {word for word in running if word not in ENGLISH_STOP_WORDS} or set(running)


def longest_run(answer: Sequence[str], document: str) -> int:
    """Length of the longest run of ``answer`` units that occurs in ``document``.

    ``document`` has its units joined by spaces, with a space at both ends, so that a search for a run written
    the same way never starts or ends within a word. The window never shrinks, so each unit is searched once.
    """
    best = start = 0
    while start + best < len(answer):
        if f" {' '.join(answer[start : start + best + 1])} " in document:
            best += 1
        else:
            start += 1
    return best


@lru_cache(maxsize=8)
def _index(document: str, language: Language) -> tuple[frozenset[str], frozenset[str], str]:
    """Tokens and units, numbers and searchable text of a document; cached, since pairs share one."""
    running = units(document, language)
    return (
        frozenset(content_tokens(running, language)) | frozenset(running),
        frozenset(_NUMBER.findall(document)),
        f" {' '.join(running)} ",
    )


def overlap(sample: Sample) -> tuple[float, float, float]:
    """Shares (0 to 1) of the answer that the document supports word for word.

    Returns:
        The share of the answer's distinct content tokens found in the document; the share of its distinct
        numbers found there (1 if it has none); the length of its longest run found there verbatim, divided
        by its own length.
    """
    known, numbers_known, text = _index(sample.document_text, sample.language)
    running = units(sample.answer, sample.language)
    tokens = content_tokens(running, sample.language)
    numbers = set(_NUMBER.findall(sample.answer))
    return (
        len(tokens & known) / len(tokens) if tokens else 0.0,
        len(numbers & numbers_known) / len(numbers) if numbers else 1.0,
        longest_run(running, text) / len(running) if running else 0.0,
    )
