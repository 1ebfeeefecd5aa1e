"""DROP (arXiv 1903.00161): questions over paragraphs that need counting, sorting or arithmetic."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file, group_of
from judge.formats.records import Record, read_records
from judge.formats.shared import Side, on_side
from judge.types import Sample

ORIGINAL = "allenai.org/data/drop"
SPLITS = ("train", "dev")


def read(data_dir: Path, split: str, side: Side | None = None) -> Iterator[Sample]:
    """One split of ``data_dir/drop``: file ``drop_dataset_SPLIT.json``.

    Ids are passage and number of the question from 0. Questions without an answer are left out. Bi'anBench
    measures on passages of this set; ``side`` says on which side they are (:mod:`judge.formats.shared`).
    """
    path = find_file(data_dir, "drop", [f"drop_dataset_{split}.json"], ORIGINAL)
    for name, passage in read_records(path):
        document = passage.text("passage")
        if not on_side("drop", document, side):
            continue
        for number, pair in enumerate(passage.records("qa_pairs", empty=True)):
            answer = _answer(pair.record("answer"))
            if answer:
                yield Sample(
                    id=f"drop-{name}-{number}",
                    document=document,
                    question=pair.text("question"),
                    answer=answer,
                    source="drop",
                    group=group_of(document),
                )


def _answer(answer: Record) -> str:
    """The one kind of answer that is filled: a number, spans of the passage, or a date."""
    date = answer.record("date") if answer.values.get("date") else None
    parts = [date.text(part, empty=True) for part in ("day", "month", "year")] if date else []
    spans = answer.texts("spans") if answer.values.get("spans") else []
    return answer.text("number", empty=True).strip() or ", ".join(spans) or " ".join(filter(None, parts))
