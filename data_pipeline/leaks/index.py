"""Does a training sample occur in a benchmark? Finds copies by their hash and near copies by their shingles.

A sample leaks by its passage, or by question and answer. Of a long document only the windows that support the
answer are compared (:mod:`data_pipeline.leaks.evidence`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any

from data_pipeline.leaks.evidence import LONG, WINDOW, evidence
from data_pipeline.leaks.postings import Texts
from data_pipeline.leaks.shingles import Shingles, fingerprint, fingerprint_of, passages, shingles, words
from judge.types import Sample

NEAR_DOCUMENT = 0.4
"""A leak if this share of a document, or of a benchmark's passage, is in both. With one word in ten changed
0.7 remains; no unrelated document reached 0.3 (``benchmarks/leak_recall.py``)."""
NEAR_PAIR = 0.6
"""A leak if this share of a question and answer, or of the benchmark's, is in both."""
LEAST_SHINGLES = 5
LEAST_PAIR_SHINGLES = 20
"""Minimum number of shared shingles to be a leak: for documents, and for questions with answers."""
LEAST_LETTERS = 40
"""Minimum bytes of a question and answer about a document: "In which year? 1990" is not a leak."""
SETTINGS = {
    "version": 2,
    "window": WINDOW,
    "long": LONG,
    "near_document": NEAR_DOCUMENT,
    "near_pair": NEAR_PAIR,
    "least_shingles": LEAST_SHINGLES,
    "least_pair_shingles": LEAST_PAIR_SHINGLES,
    "least_letters": LEAST_LETTERS,
}


_NOTHING = fingerprint("")


# Cached because a sample is compared with several indexes in turn.
_key = lru_cache(maxsize=8)(fingerprint)


@lru_cache(maxsize=64)
def _shingles(part: tuple[bytes, ...]) -> Shingles:
    return shingles(list(part))


@lru_cache(maxsize=8)
def _pair_shingles(question: str, answer: str) -> Shingles:
    return shingles(words(question) + words(answer))


class Kind(StrEnum):
    """The part of a sample that is in a benchmark. ``near``: in part, or with words changed."""

    DOCUMENT = "document and question"
    OTHER_QUESTION = "document under another question"
    NEAR_DOCUMENT = "near document"
    PAIR = "question and answer"
    NEAR_PAIR = "near question and answer"


@dataclass(frozen=True, slots=True)
class Leak:
    """The sample of a benchmark that a training sample repeats; ``similarity`` is from 0 to 1."""

    benchmark: str
    id: str
    kind: Kind
    similarity: float = 1.0


class BenchmarkIndex:
    """The documents, and the questions with answers, of benchmarks. Its size depends only on these.

    All rows are added before the first sample is checked.
    """

    def __init__(self) -> None:
        self._digests: dict[str, Any] = {}
        self._counts: dict[str, int] = {}
        self._rows: list[tuple[str, str]] = []
        self._documents, self._pairs = Texts(), Texts()
        self._asked: set[int] = set()
        # Samples about the same document or window are consecutive.
        self._near_document = lru_cache(maxsize=64)(self._look_for_part)

    @classmethod
    def build(cls, benchmarks: Mapping[str, Iterable[Sample]]) -> "BenchmarkIndex":
        """Index benchmarks by name."""
        index = cls()
        for name, samples in benchmarks.items():
            index.open(name)
            for sample in samples:
                index.add(name, sample)
        return index

    def open(self, name: str) -> None:
        """Register a benchmark, which may turn out to have no rows."""
        self._digests[name], self._counts[name] = sha256(), 0

    def add(self, name: str, sample: Sample) -> None:
        """Add a row of a benchmark. An empty document means that the question is asked without one."""
        question, answer = words(sample.question), words(sample.answer)
        document, pair = _key(sample.document_text), fingerprint_of(question, answer)
        self._digests[name].update(f"{document} {pair}\n".encode())
        self._counts[name] += 1
        row = len(self._rows)
        self._rows.append((name, sample.id))
        if document != _NOTHING and document not in self._documents.keys:
            self._documents.keys[document] = row
            for passage in passages(sample):
                self._documents.add(passage, row)
        self._asked.add(fingerprint_of(words(f"{document}"), question))
        if pair not in self._pairs.keys:
            text = question + answer
            if document == _NOTHING or sum(map(len, text)) >= LEAST_LETTERS:
                self._pairs.keys[pair] = row
            self._pairs.add(text, row)

    @property
    def benchmarks(self) -> dict[str, dict[str, Any]]:
        """For each benchmark, the number of ``rows`` and the ``hash`` of the compared texts."""
        return {
            name: {"rows": self._counts[name], "hash": digest.hexdigest()}
            for name, digest in self._digests.items()
        }

    def check(self, sample: Sample) -> Leak | None:
        """The benchmark's sample that this one repeats, or ``None``.

        Compares the document (for a long one, the windows that support the answer), then question and answer.
        """
        key = _key(sample.document_text)
        if key not in self._documents.keys:
            found = filter(None, map(self._near_document, evidence(sample)))
            return max(found, key=lambda leak: leak.similarity, default=None) or self._look_for_pair(sample)
        asked = fingerprint(f"{key}", sample.question) in self._asked
        return self._leak(self._documents.keys[key], Kind.DOCUMENT if asked else Kind.OTHER_QUESTION)

    def _look_for_part(self, part: tuple[bytes, ...]) -> Leak | None:
        """The leak of a document or window, given as words."""
        shared = self._documents.postings.most_shared(_shingles(part), LEAST_SHINGLES)
        if shared is None or shared.share < NEAR_DOCUMENT:
            return None
        return self._leak(shared.row, Kind.NEAR_DOCUMENT, shared.share)

    def _look_for_pair(self, sample: Sample) -> Leak | None:
        row = self._pairs.keys.get(_key(sample.question, sample.answer))
        if row is not None:
            return self._leak(row, Kind.PAIR)
        text = _pair_shingles(sample.question, sample.answer)
        shared = self._pairs.postings.most_shared(text, LEAST_PAIR_SHINGLES)
        if shared is None or shared.share < NEAR_PAIR:
            return None
        return self._leak(shared.row, Kind.NEAR_PAIR, shared.share)

    def _leak(self, row: int, kind: Kind, similarity: float = 1.0) -> Leak:
        benchmark, name = self._rows[row]
        return Leak(benchmark, name, kind, round(similarity, 4))
