"""WebQA 1.0 (arXiv 1607.06275): Chinese factoid questions with passages from the web and short answers.

In the plain form that is in use, ``me_train.json`` and so on: without the segmentation, the tags and the word
vectors of the first release.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file
from judge.formats.records import read_records
from judge.formats.shared import Side, on_side
from judge.types import Sample

ORIGINAL = "kexue.fm/archives/4338 (WebQA.v1.0)"
FILES = {"train": "me_train.json", "validation": "me_validation.ann.json", "test": "me_test.ann.json"}
SPLITS = tuple(FILES)
_NO_ANSWER = "no_answer"


def read(data_dir: Path, split: str, side: Side | None = None) -> Iterator[Sample]:
    """One split of ``data_dir/webqa``, a sample for each passage that holds an answer, named as the passage.

    The group is the question, for its passages say much the same. Questions and passages are on one side or
    the other (:mod:`judge.formats.shared`); what is asked of one and answered by the other is on none.
    """
    path = find_file(data_dir, "webqa", [FILES[split]], ORIGINAL)
    for question, row in read_records(path):
        for name, passage in row.named("evidences"):
            answers = [text for text in passage.texts("answer") if text.strip()]
            if answers[0] == _NO_ANSWER:
                continue
            document, asked = passage.text("evidence"), row.text("question")
            if not (on_side("webqa", asked, side) and on_side("webqa", document, side)):
                continue
            yield Sample(
                id=f"webqa-{name}",
                document=document,
                question=asked,
                answer=answers[0],
                language="zh",
                source="webqa",
                group=f"webqa-{question}",
            )
