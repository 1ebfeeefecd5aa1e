"""How texts are compared: by words without case, marks and spacing, and by overlapping runs of words.

A run of three words (four in Chinese, where each character is a word) is a *shingle* (Broder, "On the
resemblance and containment of documents", 1997). Copies share many, other texts on the same subject few.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from judge.types import Sample

WORDS = 3
CHARACTERS = 4
"""Words in a shingle; in one that starts with a Chinese character, each of which is a word."""
PASSAGE = 50
"""Minimum words of a passage; a shorter one (a heading, a caption) is joined to the next."""

Shingles = NDArray[np.uint32]

_BLANK_LINE = re.compile(r"\n\s*\n")
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_IS_CJK = re.compile(f"[{_CJK}]")
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_OTHER_MARKS = re.compile(r"[^\w\x00-\x7f]+")
_ASCII_MARKS = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + bytes(range(128, 256))
_MIX, _SHIFT, _HIGH = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(32)


def words(text: str) -> list[bytes]:
    """The words of a text for comparison: NFKC, caseless, no marks; each Chinese character is a word."""
    if text.isascii():
        return text.lower().encode().translate(_ASCII_MARKS).split()
    plain = unicodedata.normalize("NFKC", text).casefold()
    if _IS_CJK.search(plain):
        return " ".join(_WORD.findall(plain)).encode().split()
    return _OTHER_MARKS.sub(" ", plain).encode().translate(_ASCII_MARKS).split()


def fingerprint(*texts: str) -> int:
    """A 64-bit hash of texts that ignores case, marks and spacing."""
    return fingerprint_of(*map(words, texts))


def fingerprint_of(*texts: list[bytes]) -> int:
    """The :func:`fingerprint` of texts given as :func:`words`."""
    bare = b"\0".join(map(b"".join, texts))
    return int.from_bytes(blake2b(bare, digest_size=8).digest())


def shingles(found: list[bytes]) -> Shingles:
    """The distinct shingles of :func:`words` as sorted hashes; empty if there are too few words."""
    return shingles_of([found])[0]


def shingles_of(texts: Sequence[list[bytes]]) -> tuple[Shingles, NDArray[np.int64]]:
    """The shingles of many texts, one text after the other, and their number for each text."""
    found = list(chain.from_iterable(texts))
    hashes = np.fromiter(map(crc32, found), np.uint64, len(found))
    owners = np.repeat(np.arange(len(texts), dtype=np.uint64), list(map(len, texts)))
    runs = _runs(hashes, owners, WORDS)
    joined = b"".join(found)
    if not joined.isascii():
        sizes = np.fromiter(map(len, found), np.int64, len(found))
        first = np.frombuffer(joined, np.uint8)[np.cumsum(sizes) - sizes]
        chinese = (sizes == 3) & (first > 0xE2)
        longer = _runs(hashes, owners, CHARACTERS)
        runs = np.concatenate((runs[~chinese[: len(runs)]], longer[chinese[: len(longer)]]))
    # The upper half of a run is its text's index, the lower its hash; runs across two texts are dropped.
    # With counts NumPy sorts, which is much faster than its hash table for numbers without a pattern.
    runs = np.unique(runs[runs != _NO_RUN], return_counts=True)[0]
    counts = np.bincount((runs >> _HIGH).astype(np.int64), minlength=len(texts))
    return runs.astype(np.uint32), counts


_NO_RUN = np.uint64(2**64 - 1)


def _runs(hashes: NDArray[np.uint64], owners: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """A 32-bit hash of every ``size`` consecutive words of a text, with the text's index above it."""
    count = max(len(hashes) - size + 1, 0)
    runs = np.zeros(count, np.uint64)
    for place in range(size):
        runs = runs * _MIX + hashes[place : place + count]
        runs ^= runs >> _SHIFT
    first, last = owners[:count], owners[size - 1 :]
    return np.where(first == last, runs * _MIX >> _HIGH | first << _HIGH, _NO_RUN)


def passages(sample: Sample) -> Iterator[list[bytes]]:
    """The words of each passage of a sample's document; passages are separated by blank lines."""
    waiting: list[bytes] = []
    for passage in _BLANK_LINE.split(sample.document_text):
        waiting += words(passage)
        if len(waiting) >= PASSAGE:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
