"""WebCPM (arXiv 2305.06849): long answers to Chinese questions, written from facts found on the web."""

import re
from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file
from judge.formats.records import Record, read_records
from judge.formats.shared import Side, on_side
from judge.types import Sample

ORIGINAL = "github.com/thunlp/WebCPM"
NAMES = ("data.json", "interactive_data/data.json")
_CITATION = re.compile(r"[\u3010<]\d+[\u3011>]")  # the number of a fact in lenticular or angle brackets


def read(data_dir: Path, side: Side | None = None) -> Iterator[Sample]:
    """The interactive part of ``data_dir/webcpm``, one file ``data.json``; its authors split it at random.

    The document is the collected facts, a passage each; the answer is without its citation marks.
    """
    for number, row in read_records(find_file(data_dir, "webcpm", NAMES, ORIGINAL)):
        facts = [_fact(digest) for digest in row.records("digests")]
        if not any(facts):
            raise row.wrong("digests", "holds no text")
        document = tuple(fact for fact in facts if fact)
        if not on_side("webcpm", "\n\n".join(document), side):
            continue
        yield Sample(
            id=f"webcpm-{number}",
            document=document,
            question=row.text("question"),
            answer=_CITATION.sub("", row.text("answer")).strip(),
            language="zh",
            source="webcpm",
            group=f"webcpm-{number}",
        )


def _fact(digest: Record) -> str:
    return "".join(piece.text("desc", empty=True) for piece in digest.records("datas")).strip()
