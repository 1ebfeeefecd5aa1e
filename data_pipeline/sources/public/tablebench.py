"""TableBench (arXiv 2408.09174): questions about tables; Bi'an trains on it in FinanceBench's place (B.1)."""

from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_file, group_of
from judge.formats.records import Record, read_lines
from judge.types import Sample

ORIGINAL = "huggingface.co/datasets/Multilingual-Multimodal-NLP/TableBench"
NAMES = ("TableBench.jsonl", "TableBench_DP.jsonl")


def read(data_dir: Path) -> Iterator[Sample]:
    """The set from ``data_dir/tablebench``; the document is the table in Markdown.

    Left out are the questions of the type ``Visualization``, whose answers are the data of a chart.
    """
    for row in read_lines(find_file(data_dir, "tablebench", NAMES, ORIGINAL)):
        if row.text("qtype") == "Visualization":
            continue
        document = _markdown(row.record("table"))
        yield Sample(
            id=f"tablebench-{row.name('id')}",
            document=document,
            question=row.text("question"),
            answer=row.text("answer"),
            source="tablebench",
            group=group_of(document),
        )


def _markdown(table: Record) -> str:
    columns, rows = table.get("columns"), table.get("data")
    if not isinstance(columns, list) or not columns:
        raise table.wrong("columns", f"holds {columns!r:.60}, expected a list of names")
    if not isinstance(rows, list) or not all(isinstance(cells, list) for cells in rows):
        raise table.wrong("data", f"holds {rows!r:.60}, expected a list of rows")
    lines = [columns, ["---"] * len(columns), *rows]
    return table.checked("data", "\n".join(_line(cells) for cells in lines))


def _line(cells: list[object]) -> str:
    return f"| {' | '.join('' if cell is None else str(cell) for cell in cells)} |"
