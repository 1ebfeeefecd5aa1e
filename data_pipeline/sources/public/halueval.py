"""HaluEval as a source: both papers draw on it; see :mod:`judge.formats.halueval`.

It is a benchmark: the leak gate refuses the rows that occur in one that is available.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judge.formats import halueval
from judge.types import Sample

SPLITS = tuple(halueval.PARTS)


def read(data_dir: Path, split: str) -> Iterator[Sample]:
    """One part of ``data_dir/halueval``, a PASS and a FAIL sample a row."""
    part = halueval.PARTS[split]
    for sample in halueval.read(halueval.find(data_dir, part), part):
        yield replace(sample, id=f"halueval-{sample.id}")
