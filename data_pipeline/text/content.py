"""The content words of a text, normalised so that inflection and spelling of numbers make no difference."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from data_pipeline.text.numbers import SMALL_VALUES
from judge.baselines.overlap import content_tokens, units
from judge.types import Language

CJK = re.compile(r"[\u4e00-\u9fff]")
"""One Chinese character."""
_ENDINGS = ("ing", "ed", "es", "s", "e")
STEM = 5
"""``words_of`` compares words by this many first letters."""
_RUN = re.compile(r"[a-z0-9]+(?:[.,:][0-9]+)*|[\u4e00-\u9fff]+")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[\u4e00-\u9fff]+|[^\W\d_\u4e00-\u9fff]+(?:['’][^\W\d_\u4e00-\u9fff]+)*")


def _content(text: str) -> Iterator[str]:
    """The content words of a text, normalised; in Chinese, its pairs of characters."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    for word in _WORD.findall(text):
        if "\u4e00" <= word[0] <= "\u9fff":
            if len(word) == 1:
                yield SMALL_VALUES.get(word, word)
            yield from map("".join, pairwise(word))
            continue
        word = word.lower().replace("’", "'").removesuffix("'s")
        if word in SMALL_VALUES:
            yield SMALL_VALUES[word]
        elif word[0].isdecimal():  # without thousands separators and trailing zero decimals
            yield re.sub(r"\.0+$", "", word.replace(",", ""))
        elif word not in ENGLISH_STOP_WORDS:
            yield stem(word)


def is_number(key: str) -> bool:
    """Is it a number long enough to be distinctive?"""
    return key[0].isdecimal() and len(key) > 1


@lru_cache(maxsize=2048)
def keys(text: str) -> frozenset[str]:
    """The distinct content words of a text; single Chinese characters only if there is nothing else."""
    found = frozenset(_content(text))
    return frozenset(key for key in found if len(key) > 1 or not CJK.match(key)) or found


def terms(text: str) -> set[str]:
    """The terms to compare texts by: stems of English words, numbers, and pairs of Chinese characters."""
    found: set[str] = set()
    for run in _RUN.findall(text.lower()):
        if run >= "\u4e00":
            found |= {one + two for one, two in pairwise(run)} or {run}
        else:
            found.add(stem(run))
    return found


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """An English word without a common ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=32_768)
def words_of(text: str, language: Language) -> frozenset[str]:
    """The stems of the content words of a text; in Chinese, its pairs of characters.

    Small numbers are the same in words and in digits. Cached, since the same parts are asked for repeatedly.
    """
    found = content_tokens(units(text, language), language)
    if language == "zh":
        return frozenset(found)
    return frozenset(SMALL_VALUES.get(word, word if word[0].isdigit() else word[:STEM]) for word in found)


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The content words of an English text without their endings."""
    return frozenset(map(stem, content_tokens(units(text, "en"), "en")))
