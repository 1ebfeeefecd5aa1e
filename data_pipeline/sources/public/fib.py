"""FIB as a source: Bi'an draws on it for training too (Table 11); see :mod:`judge.formats.fib`.

It is a benchmark too; recipes read the articles that are on the side of the sources
(:mod:`judge.formats.shared`).
"""

from collections.abc import Iterator
from pathlib import Path

from judge.formats import fib
from judge.formats.shared import Side, on_side
from judge.types import Sample


def read(data_dir: Path, side: Side | None = None) -> Iterator[Sample]:
    """Each summary once, PASS or FAIL: models share right summaries, and extract the same sentences."""
    seen: set[tuple[str, str]] = set()
    for sample in fib.read(data_dir):
        if (sample.group, sample.answer) not in seen and on_side("fib", sample.document_text, side):
            seen.add((sample.group, sample.answer))
            yield sample
