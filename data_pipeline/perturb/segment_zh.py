"""Chinese text as words with parts of speech, in one script: what every Chinese rule looks at.

Rules are written in simplified characters and plain digits. :func:`plain` gives a text in that form, character
for character, so that a place found there is a place of the text itself; :func:`written_like` writes what a rule
puts in with the characters of the text that it goes into.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from data_pipeline.perturb.fact import CJK

if TYPE_CHECKING:
    from opencc import OpenCC


class Word(NamedTuple):
    """One word: ``text`` is its plain form, ``tag`` a part of speech of ICTCLAS (n, v, nr a person, ns a place)."""

    text: str
    tag: str
    start: int
    end: int


@cache
def _converter(config: str) -> "OpenCC":
    from opencc import OpenCC

    return OpenCC(config)


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """``text`` in simplified characters and half-width digits, of the same length.

    Where the conversion would change a length, the characters stay as they are.
    """
    narrow = "".join(unicodedata.normalize("NFKC", char) if "！" <= char <= "～" and char.isalnum() else char
                     for char in text.replace("％", "%"))  # fmt: skip
    simple = _converter("t2s").convert(narrow)
    return simple if len(simple) == len(text) else narrow


def is_traditional(text: str) -> bool:
    """Is a text written in traditional characters? It has some that simplified writing lacks, and more than a few."""
    simple = _converter("t2s").convert(text)
    changed = sum(one != two for one, two in zip(text, simple, strict=False))
    return changed > 0.02 * len(text)


def written_like(text: str, model: str) -> str:
    """``text``, given in simplified characters, in the script of ``model``."""
    if not is_traditional(model):
        return text
    known = {two: one for one, two in zip(model, plain(model), strict=True) if one != two}
    written = _converter("s2tw").convert(text)
    if len(written) != len(text):
        return text
    return "".join(known.get(old, new) for old, new in zip(text, written, strict=True))


@lru_cache(maxsize=256)
def segment(text: str) -> tuple[Word, ...]:
    """The words of a text in order; their plain forms together are the plain text."""
    import rjieba

    found, at = [], 0
    for word, tag in rjieba.tag(plain(text)):
        found.append(Word(word, tag, at, at + len(word)))
        at += len(word)
    return tuple(found)


@lru_cache(maxsize=256)
def _borders(text: str) -> tuple[frozenset[int], frozenset[int]]:
    words = segment(text)
    return frozenset(word.start for word in words), frozenset(word.end for word in words)


def is_whole(text: str, start: int, end: int) -> bool:
    """Do words begin and end at the borders of a stretch, so that it cuts through none?"""
    starts, ends = _borders(text)
    return start in starts and end in ends


def words_in(text: str, start: int, end: int) -> tuple[Word, ...]:
    """The words that lie in a stretch of a text as a whole."""
    words = segment(text)
    first = bisect_left(words, start, key=lambda word: word.start)
    last = bisect_right(words, end, key=lambda word: word.end)
    return words[first:last]


def word_before(text: str, start: int) -> Word | None:
    """The last word that ends at or before a place, spaces aside."""
    before = [word for word in words_in(text, max(0, start - 24), start) if word.text.strip()]
    return before[-1] if before else None


def word_after(text: str, end: int) -> Word | None:
    """The first word that begins at or after a place, spaces aside."""
    return next((word for word in words_in(text, end, end + 24) if word.text.strip()), None)


def has_chinese(text: str) -> bool:
    """Does a text hold a Chinese character?"""
    return CJK.search(text) is not None
