"""HaluEval (arXiv 2305.11747, section 2): a right and a hallucinated answer to each of 3 x 10,000 seeds.

Each row gives one PASS and one FAIL sample about the same document. The original files are JSON Lines,
although named ``.json``. The part "general" has no documents and no such pairs, and is not read here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.files import read_jsonl
from judge.formats.files import find_file, group_of
from judge.formats.records import Record, nonempty
from judge.rows import read_rows
from judge.types import Label, Sample, Task

ORIGINAL = "github.com/RUCAIBox/HaluEval, folder data"


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three tasks: the names of its file and columns (``question`` is empty if there is none)."""

    name: str
    task: Task
    document: str
    question: str
    right: str
    hallucinated: str


QA = Part("qa", Task.QA, "knowledge", "question", "right_answer", "hallucinated_answer")
DIALOGUE = Part(
    "dialogue", Task.DIALOGUE, "knowledge", "dialogue_history", "right_response", "hallucinated_response"
)
SUMMARIZATION = Part(
    "summarization", Task.SUMMARIZATION, "document", "", "right_summary", "hallucinated_summary"
)
PARTS = {part.name: part for part in (QA, DIALOGUE, SUMMARIZATION)}


def find(data_dir: Path, part: Part) -> Path:
    """The original file of a part in ``data_dir/halueval``."""
    return find_file(data_dir, "halueval", [f"{part.name}_data.json"], ORIGINAL)


def read(path: Path, part: Part) -> Iterator[Sample]:
    """The samples of one file (JSON Lines or Parquet): two per row, PASS first.

    Ids consist of part, row number from 0 and label.
    """
    rows = read_rows(path) if path.suffix == ".parquet" else read_jsonl(path)
    for number, (line, values) in enumerate(nonempty(rows, path)):
        row = Record(values, path, line)
        document = row.text(part.document)
        question = row.text(part.question) if part.question else ""
        for label, column in ((Label.PASS, part.right), (Label.FAIL, part.hallucinated)):
            yield Sample(
                id=f"{part.name}-{number}-{label.value.lower()}",
                document=document,
                question=question,
                answer=row.text(column),
                task=part.task,
                label=label,
                source=f"halueval_{part.name}",
                group=group_of(document),
            )
