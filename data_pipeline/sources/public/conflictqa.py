"""ConflictQA as a source: labelled counterfactual questions; see :mod:`judge.formats.conflictqa`.

It is a benchmark: the leak gate refuses the rows that occur in one that is installed.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.formats import conflictqa
from judge.types import Sample


def read(data_dir: Path) -> Iterator[Sample]:
    """Every file of ``data_dir/conflictqa``, a PASS and a FAIL sample a row."""
    yield from conflictqa.read(data_dir)
