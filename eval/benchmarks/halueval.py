"""HaluEval (arXiv 2305.11747, section 2): a right and a hallucinated answer to each of 3 x 10,000 seeds.

Each row gives one PASS and one FAIL sample about the same document. The original files are JSON Lines
although they are named ``.json``. General (no document) is left out: there is nothing to be faithful to.
"""

from dataclasses import dataclass
from pathlib import Path

from judge.errors import InputError
from judge.files import read_jsonl
from judge.formats.files import find_file, group_of, hub_files, resolve_data_dir, text_of
from judge.samples import read_rows
from judge.types import Label, Sample, Task

HUB = "pminervini/HaluEval"
ORIGINAL = "github.com/RUCAIBox/HaluEval, folder data"


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three tasks: the names of its file and columns (``question`` is empty if it has none)."""

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


def read(path: Path, part: Part) -> list[Sample]:
    """The samples of one file: two a row, PASS first. Ids are part, row number from 0 and label."""
    samples: list[Sample] = []
    rows = read_rows(path) if path.suffix == ".parquet" else read_jsonl(path)
    for number, (line, row) in enumerate(rows):
        document = text_of(row, part.document, file=path, line=line)
        question = text_of(row, part.question, file=path, line=line) if part.question else ""
        for label, column in ((Label.PASS, part.right), (Label.FAIL, part.hallucinated)):
            samples.append(
                Sample(
                    id=f"{part.name}-{number}-{label.value.lower()}",
                    document=document,
                    question=question,
                    answer=text_of(row, column, file=path, line=line),
                    task=part.task,
                    label=label,
                    source=f"halueval_{part.name}",
                    group=group_of(document),
                )
            )
    if not samples:
        raise InputError("holds no row", file=path)
    return samples


def _load(part: Part, data_dir: Path | None) -> list[Sample]:
    folder = resolve_data_dir(data_dir)
    if folder is not None:
        return read(find_file(folder, "halueval", [f"{part.name}_data.json"], ORIGINAL), part)
    return [sample for path in hub_files(HUB, f"{part.name}/*.parquet") for sample in read(path, part)]


def load_qa(data_dir: Path | None = None) -> list[Sample]:
    """Answers to HotpotQA questions; see :func:`eval.benchmarks.load_benchmark`."""
    return _load(QA, data_dir)


def load_dialogue(data_dir: Path | None = None) -> list[Sample]:
    """Replies in OpenDialKG dialogues; the question is the dialogue so far."""
    return _load(DIALOGUE, data_dir)


def load_summarization(data_dir: Path | None = None) -> list[Sample]:
    """Summaries of CNN/Daily Mail articles."""
    return _load(SUMMARIZATION, data_dir)


def load(data_dir: Path | None = None) -> list[Sample]:
    """All three parts, 60,000 samples."""
    return [*load_qa(data_dir), *load_dialogue(data_dir), *load_summarization(data_dir)]
