"""Counts a data set in one pass: classes, lengths, edits, repeats, documents in two splits.

Memory does not grow with the number of samples: hashes to find repeats are in a table on disk.
"""

import sqlite3
from collections import Counter, defaultdict
from hashlib import blake2b
from typing import Any

from data_pipeline.sources.kinds import kind_of
from judge.types import Label, Sample

LABELS = (*(label.value for label in Label), "none")
"""Labels in the order in which counts are shown; ``none`` is for unlabelled samples."""
SHOWN = 10
"""The most repeats, and the most conflicts, that are listed by id."""
BINS = 24
QUANTILES = {"p5": 0.05, "median": 0.5, "p95": 0.95}


def split_of(sample: Sample) -> str:
    """The split of a built sample, or nothing."""
    return str(sample.meta.get("split", ""))


def _key(*texts: str) -> bytes:
    """A hash of texts that ignores differences in white space."""
    return blake2b("\0".join(" ".join(text.split()) for text in texts).encode(), digest_size=8).digest()


class Tables:
    """Counts samples: :meth:`add` each of them, then read :meth:`result`."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._answers: dict[str, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
        self._documents: dict[str, Counter[int]] = defaultdict(Counter)
        self._edits: Counter[tuple[str, str, str]] = Counter()
        self._from_document: Counter[tuple[str, str, str]] = Counter()
        self._seen = sqlite3.connect("")  # a temporary file that SQLite removes
        self._seen.executescript(
            """
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            CREATE TABLE texts (key BLOB PRIMARY KEY, id TEXT, label TEXT) WITHOUT ROWID;
            CREATE TABLE documents (key BLOB PRIMARY KEY, split TEXT) WITHOUT ROWID
            """
        )
        self._shown: dict[str, list[tuple[str, str]]] = {"repeats": [], "conflicts": []}
        self._counts: Counter[str] = Counter()

    def add(self, sample: Sample) -> None:
        """Count one sample."""
        label = sample.label.value if sample.label else "none"
        place = (sample.source, sample.task.value, sample.language, split_of(sample))
        self._classes[place][label] += 1
        self._answers[sample.source][label][len(sample.answer)] += 1
        document = sample.document_text
        self._documents[sample.source][len(document)] += 1
        if "edit_type" in sample.meta:
            edit = (sample.source, kind_of(sample), str(sample.meta["edit_type"]))
            self._edits[edit] += 1
            self._from_document[edit] += bool(sample.meta.get("from_document"))
        self._look_for_repeat(sample, document, label)
        self._counts["samples"] += 1

    def _look_for_repeat(self, sample: Sample, document: str, label: str) -> None:
        split = split_of(sample)
        query = (
            "INSERT INTO documents VALUES (?1, ?2) ON CONFLICT DO UPDATE SET split = split RETURNING split"
        )
        ((known_split,),) = self._seen.execute(query, (_key(document), split))
        self._counts["in_two_splits"] += known_split != split
        text = (_key(document, sample.question, sample.answer), sample.id, label)
        query = "INSERT INTO texts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET id = id RETURNING id, label"
        ((first, known),) = self._seen.execute(query, text)
        if first == sample.id:
            return
        kind = "repeats" if known == label else "conflicts"
        self._counts[kind] += 1
        if len(self._shown[kind]) < SHOWN:
            self._shown[kind].append((first, sample.id))

    def result(self) -> dict[str, Any]:
        """The tables, as JSON values. Lengths are in characters; shares are from 0 to 1."""
        return {
            "samples": self._counts["samples"],
            "documents": self._seen.execute("SELECT COUNT(*) FROM documents").fetchone()[0],
            "classes": self._class_rows(),
            "lengths": [
                _lengths(source, by_label, self._documents[source])
                for source, by_label in sorted(self._answers.items())
            ],
            "edits": self._edit_rows(),
            **{kind: {"count": self._counts[kind], "first": first} for kind, first in self._shown.items()},
            "in_two_splits": self._counts["in_two_splits"],
        }

    def _class_rows(self) -> list[dict[str, Any]]:
        names = ("source", "task", "language", "split")
        return [
            {
                **dict(zip(names, place, strict=True)),
                **{label: labels[label] for label in LABELS},
                "samples": labels.total(),
            }
            for place, labels in sorted(self._classes.items())
        ]

    def _edit_rows(self) -> list[dict[str, Any]]:
        of_kind: Counter[tuple[str, str]] = Counter()
        for (source, kind, _), count in self._edits.items():
            of_kind[source, kind] += count
        rows = [
            {
                "source": source,
                "kind": kind,
                "edit_type": name,
                "samples": count,
                "share": count / of_kind[source, kind],
                "from_document": self._from_document[source, kind, name] / count,
            }
            for (source, kind, name), count in self._edits.items()
        ]
        return sorted(rows, key=lambda row: (row["source"], row["kind"], -row["samples"], row["edit_type"]))


def _lengths(source: str, by_label: dict[str, Counter[int]], documents: Counter[int]) -> dict[str, Any]:
    answers = {label: by_label[label] for label in LABELS if label in by_label}
    return {
        "source": source,
        "answer": {label: summary(lengths) for label, lengths in answers.items()},
        "document": summary(documents),
        "histogram": _histogram(answers),
    }


def summary(lengths: Counter[int]) -> dict[str, float]:
    """Mean and quantiles of counted lengths."""
    mean = round(sum(length * count for length, count in lengths.items()) / lengths.total(), 1)
    return {"mean": mean, **{name: _quantile(lengths, share) for name, share in QUANTILES.items()}}


def _quantile(lengths: Counter[int], share: float) -> int:
    left = share * (lengths.total() - 1)
    for length in sorted(lengths):
        left -= lengths[length]
        if left < 0:
            return length
    return max(lengths)


def _histogram(by_label: dict[str, Counter[int]]) -> dict[str, Any]:
    """Shares of each label's answers in equal bins up to the 99th percentile; the last bin takes the rest."""
    every: Counter[int] = sum(by_label.values(), Counter())
    width = max(1, -(-(_quantile(every, 0.99) + 1) // BINS))
    bars = {}
    for label, lengths in by_label.items():
        counts = [0] * BINS
        for length, count in lengths.items():
            counts[min(length // width, BINS - 1)] += count
        bars[label] = [round(count / lengths.total(), 5) for count in counts]
    return {"width": width, "shares": bars}
