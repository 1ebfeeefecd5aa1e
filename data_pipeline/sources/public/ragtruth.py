"""RAGTruth as a source: its ``train`` split; ``test`` measures. See :mod:`judge.formats.ragtruth`."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats import ragtruth
from judge.formats.shared import Side
from judge.types import Sample


def read(data_dir: Path, side: Side | None = "source") -> Iterator[Sample]:
    """The labelled responses of ``data_dir/ragtruth``: those of ``train``, of ``test``, or all."""
    if side != "benchmark":
        yield from ragtruth.load_split("train", data_dir)
    if side != "source":
        yield from ragtruth.load_split("test", data_dir)
