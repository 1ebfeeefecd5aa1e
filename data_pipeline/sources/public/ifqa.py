"""IfQA (arXiv 2305.14010): questions that presuppose something counterfactual, with Wikipedia passages."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file, group_of
from judge.formats.records import read_records
from judge.types import Sample

ORIGINAL = "github.com/wyu97/IfQA"
SPLITS = ("train", "dev", "test")


def read(data_dir: Path, split: str) -> Iterator[Sample]:
    """One split of ``data_dir/ifqa``: file ``SPLIT.json``; the first of the answers counts."""
    path = find_file(data_dir, "ifqa", [f"{split}.json"], ORIGINAL)
    for _, row in read_records(path):
        passages = row.texts("context")
        yield Sample(
            id=f"ifqa-{split}-{row.name('idx')}",
            document=tuple(passages),
            question=row.text("question"),
            answer=next(text for text in row.texts("answers") if text.strip()),
            source="ifqa",
            group=group_of("\n\n".join(passages)),
        )
