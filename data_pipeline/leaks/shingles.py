"""What of a text is compared: its words without case, marks and spacing, and their overlapping runs.

A run of three words (four in Chinese, where each character is one) is a *shingle* (Broder, "On the
resemblance and containment of documents", 1997). Copies of a text share many, texts about one subject few.
"""

import re
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from judge.types import Sample

WORDS = 3
CHARACTERS = 4
"""Words in a shingle; in one that starts with a Chinese character, each of which is a word."""
PASSAGE = 50
"""A passage has at least so many words; what is shorter (a heading, a caption) goes with the next."""

Shingles = NDArray[np.uint32]

_BLANK_LINE = re.compile(r"\n\s*\n")
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_ASCII_MARKS = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + bytes(range(128, 256))
_MIX, _SHIFT, _HIGH = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(32)


def words(text: str) -> list[bytes]:
    """The words of a text as they are compared: NFKC, caseless, no marks; a Chinese character is one."""
    if text.isascii():
        return text.lower().encode().translate(_ASCII_MARKS).split()
    return [word.encode() for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())]


def fingerprint(*texts: str) -> int:
    """64 bits that texts have in common if they differ in case, marks and spacing alone."""
    bare = b"\0".join(b"".join(words(text)) for text in texts)
    return int.from_bytes(blake2b(bare, digest_size=8).digest())


def shingles(found: list[bytes]) -> Shingles:
    """The distinct shingles of :func:`words` as sorted hashes; none where there are too few words."""
    chinese = np.fromiter((len(word) == 3 and word[0] > 0xE2 for word in found), np.bool_, len(found))
    hashes = np.fromiter(map(crc32, found), np.uint64, len(found))
    runs = _runs(hashes, WORDS)
    if chinese.any():
        longer = _runs(hashes, CHARACTERS)
        runs = np.concatenate((runs[~chinese[: len(runs)]], longer[chinese[: len(longer)]]))
    runs.sort()
    return runs[np.concatenate(([True], runs[1:] != runs[:-1]))] if len(runs) else runs


def _runs(hashes: NDArray[np.uint64], size: int) -> Shingles:
    """One hash for every ``size`` neighbours."""
    count = max(len(hashes) - size + 1, 0)
    runs = np.zeros(count, np.uint64)
    for place in range(size):
        runs = runs * _MIX + hashes[place : place + count]
        runs ^= runs >> _SHIFT
    return (runs * _MIX >> _HIGH).astype(np.uint32)


def passages(sample: Sample) -> Iterator[list[bytes]]:
    """The words of each passage of a sample's document, which blank lines part."""
    waiting: list[bytes] = []
    for passage in _BLANK_LINE.split(sample.document_text):
        waiting += words(passage)
        if len(waiting) >= PASSAGE:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
