"""CMRC 2018 (arXiv 1810.07366): questions about Chinese Wikipedia, in simplified characters."""

from collections.abc import Iterator
from pathlib import Path

from data_pipeline.sources import squad
from data_pipeline.sources.windows import WINDOW_TOKENS
from judge.formats.files import find_file
from judge.types import Sample

ORIGINAL = "github.com/ymcui/cmrc2018, folder squad-style-data"
SPLITS = ("train", "dev", "trial")


def read(data_dir: Path, split: str, window_tokens: int = WINDOW_TOKENS) -> Iterator[Sample]:
    """One split of ``data_dir/cmrc2018``: file ``cmrc2018_SPLIT.json`` in SQuAD's form."""
    path = find_file(data_dir, "cmrc2018", [f"cmrc2018_{split}.json"], ORIGINAL)
    return squad.read(path, "cmrc2018", "zh", window_tokens=window_tokens)
