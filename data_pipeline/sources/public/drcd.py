"""DRCD (arXiv 1806.00920): questions about Chinese Wikipedia, in traditional characters."""

from collections.abc import Iterator
from pathlib import Path

from data_pipeline.sources import squad
from data_pipeline.sources.windows import WINDOW_TOKENS
from judge.formats.files import find_file
from judge.types import Sample

ORIGINAL = "github.com/DRCKnowledgeTeam/DRCD"
SPLITS = ("training", "dev", "test")


def read(data_dir: Path, split: str, window_tokens: int = WINDOW_TOKENS) -> Iterator[Sample]:
    """One split of ``data_dir/drcd``: file ``DRCD_SPLIT.json`` in SQuAD's form."""
    path = find_file(data_dir, "drcd", [f"DRCD_{split}.json"], ORIGINAL)
    return squad.read(path, "drcd", "zh", window_tokens=window_tokens)
