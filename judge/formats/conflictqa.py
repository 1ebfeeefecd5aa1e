"""ConflictQA (arXiv 2305.13300): evidence for and against what a language model believes.

Used as in Bi'an for counterfactual question answering (section 2.2 and A.1): the document is the evidence
for the counter-answer. The counter-answer is faithful to it; the model's own answer, true or not, is not.
With the evidence for the model's own answer it is the other way round.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from judge.formats.files import find_files, group_of
from judge.formats.records import nonempty, read_lines
from judge.types import Label, Sample

ORIGINAL = "huggingface.co/datasets/osunlp/ConflictQA"

Side = Literal["counter", "memory"]
SIDES: tuple[Side, ...] = get_args(Side)
_FIELDS = {
    "counter": ("counter_memory", "counter_answer", "memory_answer"),
    "memory": ("parametric_memory", "memory_answer", "counter_answer"),
}


def read(data_dir: Path, side: Side = "counter") -> Iterator[Sample]:
    """Two samples per row of the files ``conflictQA-SET-MODEL.json`` (JSON Lines) in ``data_dir/conflictqa``.

    Ids are ``conflictqa-SET-MODEL-row-label``, rows from 0. The group is the question, which models share.
    ``side`` says which evidence is the document.
    """
    document, right, wrong = _FIELDS[side]
    for path in find_files(data_dir, "conflictqa", "conflictQA-*.json", ORIGINAL):
        part = path.name.removeprefix("conflictQA-").split(".json")[0]
        for number, row in enumerate(nonempty(read_lines(path), path)):
            question = row.text("question")
            for label, field in ((Label.PASS, right), (Label.FAIL, wrong)):
                yield Sample(
                    id=f"conflictqa-{part}-{number}-{label.value.lower()}",
                    document=row.text(document),
                    question=question,
                    answer=row.text(field),
                    label=label,
                    source="conflictqa",
                    group=group_of(question),
                )
