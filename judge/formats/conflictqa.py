"""ConflictQA (arXiv 2305.13300): evidence for an answer that contradicts what a language model believes.

As Bi'an uses it for counterfactual question answering (section 2.2 and A.1): the document is the evidence
for the counter-answer. The counter-answer is faithful to it; the model's own answer, true or not, is not.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_files, group_of
from judge.formats.records import read_lines
from judge.types import Label, Sample, Task

ORIGINAL = "huggingface.co/datasets/osunlp/ConflictQA"


def read(data_dir: Path) -> Iterator[Sample]:
    """Two samples a row of the files ``conflictQA-SET-MODEL.json`` (JSON Lines) in ``data_dir/conflictqa``.

    Ids are ``conflictqa-SET-MODEL-row-label``, rows from 0. The group is the question: models share them.
    """
    for path in find_files(data_dir, "conflictqa", "conflictQA-*.json", ORIGINAL):
        part = path.name.removeprefix("conflictQA-").split(".json")[0]
        for number, row in enumerate(read_lines(path)):
            question = row.text("question")
            for label, field in ((Label.PASS, "counter_answer"), (Label.FAIL, "memory_answer")):
                yield Sample(
                    id=f"conflictqa-{part}-{number}-{label.value.lower()}",
                    document=row.text("counter_memory"),
                    question=question,
                    answer=row.text(field),
                    task=Task.QA,
                    label=label,
                    source="conflictqa",
                    group=group_of(question),
                )
