"""ASQA (arXiv 2204.06092): ambiguous questions with long answers that cover every reading."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file
from judge.formats.records import Record, read_object
from judge.types import Sample

ORIGINAL = "github.com/google-research/language, folder language/asqa"
SPLITS = ("train", "dev")
_NO_CONTEXT = "No context provided"


def read(data_dir: Path, split: str) -> Iterator[Sample]:
    """One split of ``data_dir/asqa/ASQA.json``, a sample for each long answer (``dev`` has two a question).

    The document is what its writer had: the passages of the disambiguated questions, or question and short
    answer where there is no passage, and the passages that the writer added.
    """
    path = find_file(data_dir, "asqa", ["ASQA.json"], ORIGINAL)
    for name, row in read_object(path).named(split):
        pairs = [_passage(pair) for pair in row.records("qa_pairs")]
        for number, annotation in enumerate(row.records("annotations")):
            added = [piece.text("content") for piece in annotation.records("knowledge", empty=True)]
            yield Sample(
                id=f"asqa-{name}-{number}",
                document=tuple(dict.fromkeys([*pairs, *added])),
                question=row.text("ambiguous_question"),
                answer=annotation.text("long_answer"),
                source="asqa",
                group=f"asqa-{name}",
            )


def _passage(pair: Record) -> str:
    context = pair.text("context", empty=True)
    if context.strip() and context != _NO_CONTEXT:
        return context
    return f"{pair.text('question')} {' / '.join(pair.texts('short_answers'))}"
