"""Chinese text as words with parts of speech, in one script, for all Chinese rules.

Rules are written in simplified characters and plain digits. :func:`plain` converts a text to that form
character by character, so that positions stay valid in the original; :func:`written_like` converts text that
a rule inserts to the script of the target text.
"""

from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from opencc import OpenCC


# Full-width digits, letters and the percent sign, and their half-width forms.
_NARROW = {at: at - 0xFEE0 for at in range(0xFF01, 0xFF5F) if chr(at).isalnum() or chr(at) == "％"}


class Word(NamedTuple):
    """One word: its plain form, and its part of speech by ICTCLAS (n, v, nr a person, ns a place)."""

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

    If simplifying would change the length, the text keeps its characters.
    """
    narrow = text.translate(_NARROW)
    simple = _converter("t2s").convert(narrow)
    return simple if len(simple) == len(text) else narrow


@lru_cache(maxsize=64)
def _traditional(text: str) -> dict[str, str] | None:
    """A map from simplified to the text's traditional characters; ``None`` if the text is simplified."""
    known = {two: one for one, two in zip(text, _converter("t2s").convert(text), strict=False) if one != two}
    return known if sum(char in known.values() for char in text) > 0.02 * len(text) else None


def written_like(text: str, model: str) -> str:
    """Convert ``text`` from simplified characters to the script of ``model``, preferring its variants."""
    known = _traditional(model)
    if known is None:
        return text
    written = _converter("s2tw").convert(text)
    if len(written) != len(text):
        return text
    return "".join(known.get(old, new) for old, new in zip(text, written, strict=True))


@lru_cache(maxsize=256)
def segment(text: str) -> tuple[Word, ...]:
    """The words of a text in order; joined, they give the plain text."""
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
    """Do the borders of a span coincide with word borders?"""
    starts, ends = _borders(text)
    return start in starts and end in ends


def words_in(text: str, start: int, end: int) -> tuple[Word, ...]:
    """The words that lie entirely within a span of a text."""
    words = segment(text)
    first = bisect_left(words, start, key=lambda word: word.start)
    last = bisect_right(words, end, key=lambda word: word.end)
    return words[first:last]


def word_before(text: str, start: int) -> Word | None:
    """The last word that ends at or before a position, ignoring spaces."""
    before = [word for word in words_in(text, max(0, start - 24), start) if word.text.strip()]
    return before[-1] if before else None


def word_after(text: str, end: int) -> Word | None:
    """The first word that begins at or after a position, ignoring spaces."""
    return next((word for word in words_in(text, end, end + 24) if word.text.strip()), None)


def sentence_of(text: str, place: int) -> str:
    """The sentence around a position of a text."""
    start = max(text.rfind(mark, 0, place) for mark in "。！？；\n") + 1
    ends = [at for mark in "。！？；\n" if (at := text.find(mark, place)) >= 0]
    return text[start : min(ends, default=len(text))]
