"""Any file of labelled samples as a benchmark."""

from collections.abc import Iterator
from pathlib import Path

from eval.benchmarks.base import Benchmark
from judge.errors import InputError
from judge.samples import Columns, read_samples
from judge.types import Sample


def samples_file(path: Path, columns: Columns | None = None) -> Benchmark:
    """The samples of a ``.jsonl``, ``.csv`` or ``.parquet`` file, all of which must have a gold label."""
    return Benchmark(name=path.name, title=str(path), read=lambda _: _labelled(path, columns))


def _labelled(path: Path, columns: Columns | None) -> Iterator[Sample]:
    for sample in read_samples(path, columns):
        if sample.label is None:
            raise InputError(
                f"sample {sample.id!r} has none, and measuring needs gold labels (PASS or FAIL)",
                file=path,
                field="label",
            )
        yield sample
