"""FinanceBench (arXiv 2311.11944): the 150 open questions about company filings, with their evidence.

HaluBench measures on this set; the leak gate refuses the rows that occur there.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file
from judge.formats.records import read_lines
from judge.types import Sample

ORIGINAL = "github.com/patronus-ai/financebench, folder data"


def read(data_dir: Path) -> Iterator[Sample]:
    """The set from ``data_dir/financebench``: file ``financebench_open_source.jsonl``.

    The document is the pieces of evidence. The group is the filing, whose pages questions share in part.
    """
    path = find_file(data_dir, "financebench", ["financebench_open_source.jsonl"], ORIGINAL)
    for row in read_lines(path):
        yield Sample(
            id=f"financebench-{row.name('financebench_id').removeprefix('financebench_id_')}",
            document=tuple(piece.text("evidence_text") for piece in row.records("evidence")),
            question=row.text("question"),
            answer=row.text("answer"),
            source="financebench",
            group=f"financebench-{row.text('doc_name')}",
        )
