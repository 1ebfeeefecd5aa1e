"""FIB as a source: Bi'an draws on it for training too (Table 11); see :mod:`judge.formats.fib`.

It is a benchmark: the leak gate refuses the rows that occur in one that is at hand.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.formats import fib
from judge.types import Sample


def read(data_dir: Path) -> Iterator[Sample]:
    """Each summary once, PASS or FAIL: models share right summaries, and extract the same sentences."""
    seen: set[tuple[str, str]] = set()
    for sample in fib.read(data_dir):
        if (sample.group, sample.answer) not in seen:
            seen.add((sample.group, sample.answer))
            yield sample
