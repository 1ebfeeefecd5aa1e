"""Any file of labelled samples as a benchmark."""

from collections.abc import Iterator
from pathlib import Path

from eval.benchmarks.base import Benchmark
from judge.columns import Columns, find_columns
from judge.rows import Meanings, as_file
from judge.samples import read_samples
from judge.types import Sample


def samples_file(
    path: Path,
    columns: Columns | None = None,
    encoding: str | None = None,
    labels: Meanings | None = None,
) -> Benchmark:
    """The samples of a file, all of which must have a gold label.

    Args:
        path: a file of one of the :data:`judge.rows.FILE_TYPES`.
        columns: the file's column names; usual ones are found, see :func:`judge.columns.find_columns`.
        encoding: the text encoding, if it is not UTF-8.
        labels: the meaning of custom label values.
    """

    def read(_: Path | None) -> Iterator[Sample]:
        with as_file(path, encoding) as file:
            yield from read_samples(file, find_columns(file, columns), labels=labels, gold=True)

    return Benchmark(name=path.name, title=str(path), read=read)
