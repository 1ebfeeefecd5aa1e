"""Training labels for an encoder: of answers, and of their tokens if the wrong words are known."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from judge.encoder.pairs import Pairing
from judge.encoder.rows import Row
from judge.formats.spans import wrong_spans
from judge.progress import track
from judge.types import Label, Sample

SHORT = 6
"""An answer to a question with at most this many tokens is correct or wrong as a whole."""
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Item:
    """A labelled sample and its cost: tokens of its longest pair, number of pairs, tokens of all pairs."""

    sample: Sample
    longest: int
    pairs: int
    tokens: int


def items(samples: Iterable[Sample], pairing: Pairing, max_pairs: int) -> tuple[list[Item], int]:
    """Labelled samples with their costs, and how many were left out because they need too many pairs.

    Args:
        samples: labelled samples.
        pairing: how they become pairs.
        max_pairs: limit on document windows times answer parts.
    """
    found, left_out = [], 0
    some = list(samples)
    for sample in track(some, "tokenize", len(some)):
        rows = pairing.pairs(sample).rows
        if len(rows) > max_pairs:
            left_out += 1
            continue
        lengths = [len(row) for row in rows]
        found.append(Item(sample, max(lengths), len(rows), sum(lengths)))
    return found, left_out


def known_labels(sample: Sample, spans: Sequence[tuple[int, int]]) -> tuple[int, ...] | None:
    """Labels of an answer's tokens, given their places in its text; ``None`` if they are unknown.

    1 for tokens in a wrong span, 0 for others.
    """
    places = wrong_spans(sample)
    if places is not None:
        return tuple(int(any(start < stop and end > begin for begin, stop in places)) for start, end in spans)
    if sample.question and len(spans) <= SHORT:
        return (int(sample.label is Label.FAIL),) * len(spans)
    return None


def token_labels(sample: Sample, row: Row) -> tuple[int, ...]:
    """:func:`known_labels` of a row's tokens, with -1 for each if they are unknown."""
    known = known_labels(sample, row.spans)
    return (UNKNOWN,) * len(row.spans) if known is None else known


def counts(train: Sequence[Item]) -> dict[str, Any]:
    """Counts of a training set."""
    labels = Counter(item.sample.label for item in train)
    return {
        "rows": len(train),
        "fail": labels[Label.FAIL],
        "documents": len({item.sample.document_text for item in train}),
        "pairs": sum(item.pairs for item in train),
        "tokens": sum(item.tokens for item in train),
    }
