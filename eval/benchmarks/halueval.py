"""HaluEval (arXiv 2305.11747, section 2), in its three parts; see :mod:`judge.formats.halueval`."""

from pathlib import Path

from judge.formats.files import hub_files, resolve_data_dir
from judge.formats.halueval import DIALOGUE, QA, SUMMARIZATION, Part, find, read
from judge.types import Sample

HUB = "pminervini/HaluEval"


def _load(part: Part, data_dir: Path | None) -> list[Sample]:
    folder = resolve_data_dir(data_dir)
    paths = hub_files(HUB, f"{part.name}/*.parquet") if folder is None else [find(folder, part)]
    return [sample for path in paths for sample in read(path, part)]


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
