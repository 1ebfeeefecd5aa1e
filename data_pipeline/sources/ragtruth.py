"""RAGTruth as a source: its ``train`` split alone; ``test`` measures. See :mod:`judge.formats.ragtruth`."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats import ragtruth
from judge.types import Sample


def read(data_dir: Path) -> Iterator[Sample]:
    """The labelled training responses of ``data_dir/ragtruth``."""
    yield from ragtruth.load_split("train", data_dir)
