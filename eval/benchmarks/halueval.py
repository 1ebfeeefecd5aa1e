"""HaluEval (arXiv 2305.11747, section 2): three parts with documents, see :mod:`judge.formats.halueval`.

General, the fourth, has answers of ChatGPT to instructions, labelled by people, and no documents: a judge has
to use its own knowledge. Its samples have an empty document, and their own prompt does not mention one.
"""

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from eval.benchmarks.base import Benchmark
from eval.benchmarks.pairs import pair_figures
from eval.benchmarks.prompts import BenchmarkPrompt, with_prompt
from judge.errors import unknown
from judge.files import read_jsonl
from judge.formats.files import find_file, group_of, hub_files
from judge.formats.halueval import DIALOGUE, ORIGINAL, PARTS, QA, SUMMARIZATION, Part, find
from judge.formats.halueval import read as read_file
from judge.formats.records import Record, nonempty
from judge.rows import read_rows
from judge.types import Label, Sample

HUB = "pminervini/HaluEval"
GENERAL_LABELS = {"no": Label.PASS, "yes": Label.FAIL}
GENERAL_PROMPT = BenchmarkPrompt(
    version="halueval-general-1",
    rules=(
        "Check the ANSWER to the QUESTION by what you know. Look for statements that are untrue, that nobody "
        "could verify, or that have nothing to do with what was asked."
    ),
)


def read(parts: tuple[Part, ...], data_dir: Path | None) -> Iterator[Sample]:
    """Two samples per row, from ``data_dir/halueval`` or from the Hub."""
    for part in parts:
        paths = hub_files(HUB, f"{part.name}/*.parquet") if data_dir is None else [find(data_dir, part)]
        for path in paths:
            yield from read_file(path, part)


def read_general(data_dir: Path | None) -> Iterator[Sample]:
    """The samples of ``general_data.json``; ids are row numbers from 0."""
    if data_dir is None:
        paths = hub_files(HUB, "general/*.parquet")
    else:
        paths = [find_file(data_dir, "halueval", ["general_data.json"], ORIGINAL)]
    numbers = count()
    for path in paths:
        found = read_rows(path) if path.suffix == ".parquet" else read_jsonl(path)
        for line, values in nonempty(found, path):
            row = Record(values, path, line)
            question, marked = row.text("user_query"), row.text("hallucination").strip().lower()
            if marked not in GENERAL_LABELS:
                raise row.wrong("hallucination", unknown("label", marked, GENERAL_LABELS))
            yield Sample(
                id=f"general-{next(numbers)}",
                document="",
                question=question,
                answer=row.text("chatgpt_response"),
                label=GENERAL_LABELS[marked],
                source="halueval_general",
                group=group_of(question),
            )


def _benchmark(name: str, title: str, *parts: Part) -> Benchmark:
    return Benchmark(
        name=name,
        title=f"{title} (arXiv 2305.11747)",
        read=partial(read, parts),
        figures=pair_figures,
        notes=(
            "The paper draws one of the two answers of each row; here both are judged, and stay together in "
            "the intervals.",
        ),
    )


HALUEVAL = _benchmark("halueval", "HaluEval", *PARTS.values())
HALUEVAL_QA = _benchmark("halueval_qa", "HaluEval, question answering", QA)
HALUEVAL_DIALOGUE = _benchmark("halueval_dialogue", "HaluEval, dialogue", DIALOGUE)
HALUEVAL_SUMMARIZATION = _benchmark("halueval_summarization", "HaluEval, summarization", SUMMARIZATION)
HALUEVAL_GENERAL = Benchmark(
    name="halueval_general",
    title="HaluEval, general (arXiv 2305.11747)",
    read=read_general,
    ask=with_prompt(GENERAL_PROMPT),
    notes=("There is no document: a judge is asked what it knows, not whether an answer is faithful.",),
)
