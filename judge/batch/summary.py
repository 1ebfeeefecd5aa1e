"""Summarizes a file of verdicts in a few lines: counts per label, and the least certain verdicts."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.errors import counted
from judge.files import read_jsonl
from judge.types import Label

DOUBTFUL = 10
"""Number of least certain verdicts to name."""
LONGEST = 60
"""Longest id shown in full, in characters."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The verdicts of a file.

    Attributes:
        passed: how many are PASS.
        failed: how many are FAIL.
        unread: how many have no label, since the judge's output could not be read or a sample did not fit.
        cut: how many documents did not fit and were shortened.
        first_bad: the id of the first verdict that is not PASS.
        doubtful: ids and p(FAIL) of the verdicts nearest to the threshold, the nearest first.
    """

    passed: int
    failed: int
    unread: int
    cut: int
    first_bad: str | None
    doubtful: list[tuple[str, float]]

    def lines(self) -> Iterator[str]:
        """The summary as lines of text."""
        total = self.passed + self.failed + self.unread
        why = " (their error says why)" if self.unread else ""
        answers = counted(total, "answer")
        yield f"{answers}: {self.passed:,} PASS, {self.failed:,} FAIL, {self.unread:,} unread{why}"
        if self.cut:
            yield f"too long, and shortened: {counted(self.cut, 'document')} (cut_chars says by how much)"
        if self.doubtful:
            named = ", ".join(f"{shown(name)} {p:.3f}" for name, p in self.doubtful)
            yield f"least sure, by p(FAIL): {named}"


def shown(name: str) -> str:
    """An id for the terminal: escaped if not printable, and shortened."""
    text = name if name.isprintable() else ascii(name)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def summarize(verdicts: Path) -> Summary:
    """Read a file of verdicts as a stream, twice: for the counts, then for those nearest the threshold."""
    counts = dict.fromkeys((Label.PASS, Label.FAIL, None), 0)
    cut, first_bad, highest_pass, lowest_fail = 0, None, 0.0, 1.0
    for _, row in read_jsonl(verdicts):
        counts[row["label"]] += 1
        cut += row["cut_chars"] > 0
        if first_bad is None and row["label"] != Label.PASS:
            first_bad = str(row["id"])
        if row["p_fail"] is not None and row["label"] == Label.PASS:
            highest_pass = max(highest_pass, row["p_fail"])
        if row["p_fail"] is not None and row["label"] == Label.FAIL:
            lowest_fail = min(lowest_fail, row["p_fail"])
    border = _border(highest_pass, lowest_fail)
    # Exactly 0 and 1 come from rules, which are never unsure.
    rows = (row for _, row in read_jsonl(verdicts) if row["p_fail"] not in (None, 0, 1))
    known = ((str(row["id"]), float(row["p_fail"])) for row in rows)
    doubtful = heapq.nsmallest(DOUBTFUL, known, key=lambda pair: abs(pair[1] - border))
    return Summary(counts[Label.PASS], counts[Label.FAIL], counts[None], cut, first_bad, doubtful)


def _border(highest_pass: float, lowest_fail: float) -> float:
    """The threshold that the verdicts imply: 0.5 if that fits or labels overlap, else midway between them."""
    if highest_pass < 0.5 <= lowest_fail or highest_pass >= lowest_fail:
        return 0.5
    return (highest_pass + lowest_fail) / 2
