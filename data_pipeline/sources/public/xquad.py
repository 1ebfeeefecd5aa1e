"""XQuAD (arXiv 1910.11856): 1,190 questions of SQuAD, translated by people; English and Chinese here."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from data_pipeline.sources import squad
from data_pipeline.sources.windows import WINDOW_TOKENS
from judge.formats.files import find_file
from judge.types import LANGUAGES, Sample

ORIGINAL = "github.com/google-deepmind/xquad"


def read(data_dir: Path, window_tokens: int = WINDOW_TOKENS) -> Iterator[Sample]:
    """Both languages of ``data_dir/xquad``: files ``xquad.en.json`` and ``xquad.zh.json``.

    A paragraph and its translation have the same questions in the same order, and share a group.
    """
    for language in LANGUAGES:
        path = find_file(data_dir, "xquad", [f"xquad.{language}.json"], ORIGINAL)
        first: dict[str, str] = {}
        for sample in squad.read(path, "xquad", language, "xquad", window_tokens):
            group = first.setdefault(sample.group, sample.id)
            yield replace(sample, id=f"{sample.id}-{language}", group=group)
