"""PubMedQA (arXiv 1909.06146): research questions, abstracts, and conclusions as long answers."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file, group_of
from judge.formats.records import read_records
from judge.formats.shared import Side, on_side
from judge.types import Sample

ORIGINAL = "github.com/pubmedqa/pubmedqa"
SPLITS = ("pqal", "pqaa", "pqau")
"""1,000 with expert labels, 211,269 with questions made from titles, 61,249 without labels."""


def read(data_dir: Path, split: str, side: Side | None = None) -> Iterator[Sample]:
    """One part of ``data_dir/pubmedqa``: file ``ori_SPLIT.json``.

    The document is the abstract without its conclusion, which is the answer. HaluBench measures on this set;
    recipes read the abstracts on the side of the sources (:mod:`judge.formats.shared`).
    """
    path = find_file(data_dir, "pubmedqa", [f"ori_{split}.json"], ORIGINAL)
    for name, row in read_records(path):
        passages = row.texts("CONTEXTS")
        if not on_side("pubmedqa", "\n\n".join(passages), side):
            continue
        yield Sample(
            id=f"pubmedqa-{name}",
            document=tuple(passages),
            question=row.text("QUESTION"),
            answer=row.text("LONG_ANSWER"),
            source="pubmedqa",
            group=group_of("\n\n".join(passages)),
        )
