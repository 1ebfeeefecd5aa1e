"""Where a judge fails: its accuracy by length and by kind of error, and its scores by gold label."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from eval.pages.runs import Judged
from eval.resampling import Interval
from judge.calibration.reliability import wilson
from judge.types import Label

HISTOGRAM_BINS = 20
DOCUMENT_EDGES = (500, 1000, 2000, 4000, 8000)
ANSWER_EDGES = (50, 100, 200, 400, 800)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the samples and the share of correct verdicts in it, with Wilson's 95 % interval.

    Unparsed verdicts count as wrong.
    """

    name: str
    n: int
    accuracy: float
    interval: Interval


def slices(judged: Sequence[Judged]) -> dict[str, tuple[Slice, ...]]:
    """Slices of the samples by title (lengths, edit type); titles with a single slice are left out."""
    by_document = _cut([(row.document_chars, row) for row in judged if row.document_chars], DOCUMENT_EDGES)
    by_answer = _cut([(len(row.answer), row) for row in judged if row.answer], ANSWER_EDGES)
    edits: dict[str, list[Judged]] = {}
    for row in judged:
        if row.edit_type:
            edits.setdefault(row.edit_type, []).append(row)
    found = {
        "document length, characters": by_document,
        "answer length, characters": by_answer,
        "edit type": dict(sorted(edits.items())),
    }
    return {
        title: tuple(_slice(name, rows) for name, rows in parts.items())
        for title, parts in found.items()
        if len(parts) > 1
    }


def histogram(judged: Sequence[Judged]) -> dict[Label, list[int]]:
    """Number of samples of each gold label by predicted probability of FAIL, in equal bins from 0 to 1."""
    counts = {label: [0] * HISTOGRAM_BINS for label in Label}
    for row in judged:
        p_fail = row.verdict.p_fail
        if p_fail is not None and isfinite(p_fail):
            counts[row.gold][min(int(p_fail * HISTOGRAM_BINS), HISTOGRAM_BINS - 1)] += 1
    return counts


def confusion(judged: Sequence[Judged]) -> dict[Label, tuple[int, int, int]]:
    """For each gold label, how many were judged PASS, judged FAIL, and unparsed."""
    counts = Counter((row.gold, row.verdict.label) for row in judged)
    return {gold: (counts[gold, Label.PASS], counts[gold, Label.FAIL], counts[gold, None]) for gold in Label}


def _cut(judged: Sequence[tuple[int, Judged]], edges: Sequence[int]) -> dict[str, list[Judged]]:
    """Slices by length, the shortest first, without empty ones."""
    names = [f"under {edges[0]:,}"]
    names += [f"{low:,} to {high - 1:,}" for low, high in pairwise(edges)]
    names.append(f"{edges[-1]:,} and more")
    parts: list[list[Judged]] = [[] for _ in names]
    for length, row in judged:
        parts[bisect_right(edges, length)].append(row)
    return {name: rows for name, rows in zip(names, parts, strict=True) if rows}


def _slice(name: str, rows: Sequence[Judged]) -> Slice:
    right = sum(row.verdict.label is row.gold for row in rows)
    return Slice(name, len(rows), right / len(rows), wilson(right, len(rows)))
