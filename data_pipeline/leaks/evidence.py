"""The part of a long document that supports an answer: only that part can leak the answer's question.

Example: a benchmark has two passages of an article of 4,000 words. A question that another section answers
is not one of the benchmark's.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log2

from data_pipeline.leaks.shingles import words
from judge.types import Sample, Task

WINDOW = 200
"""Words (in Chinese, characters) of a window; a window starts halfway through the one before."""
LONG = 400
"""A document of more words is compared in windows."""
NEARLY = 0.8
"""Windows with at least this share of the best window's score support the answer too."""

LOOKED_UP = (Task.QA, Task.DIALOGUE)
"""Tasks whose answers are found in one place; a summary or a translation covers its whole document."""


def evidence(sample: Sample) -> list[tuple[bytes, ...]]:
    """The words of the windows that support a sample's answer; all words of a short document.

    Candidates are the windows that contain the answer word for word, or all windows if none does. Of these,
    the windows that contain most words of question and answer are taken; rare words count for more.
    """
    windows = _windows(sample.document_text) if sample.task in LOOKED_UP else ()
    if not windows:
        return [_words(sample.document_text)]
    answer = words(sample.answer)
    run = _joined(answer)
    verbatim = [window for window in windows if run in _joined(window)] if answer else []
    wanted = {*answer, *words(sample.question)}
    known = [frozenset(window) & wanted for window in windows]
    counts = Counter(word for held in known for word in held)
    scores = {
        window: sum(log2(1 + len(windows) / counts[word]) for word in held)
        for window, held in zip(windows, known, strict=True)
    }
    candidates = verbatim or list(windows)
    best = max(scores[window] for window in candidates)
    return [window for window in candidates if scores[window] >= NEARLY * best]


@lru_cache(maxsize=8)  # samples about the same document are consecutive
def _windows(document: str) -> tuple[tuple[bytes, ...], ...]:
    """The windows of a long document; none of a short one."""
    found = _words(document)
    if len(found) <= LONG:
        return ()
    half = WINDOW // 2
    starts = range(0, len(found) - half, half)
    return tuple(dict.fromkeys(found[start : start + WINDOW] for start in starts))


@lru_cache(maxsize=8)
def _words(document: str) -> tuple[bytes, ...]:
    return tuple(words(document))


def _joined(found: Sequence[bytes]) -> bytes:
    return b" " + b" ".join(found) + b" "
