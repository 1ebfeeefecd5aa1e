"""Reading and writing samples: JSON Lines, CSV and Parquet, each row checked once, at the door."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.errors import InputError, unknown
from judge.files import open_text, read_jsonl, write_jsonl
from judge.types import LANGUAGES, Label, Sample, Task

FIELDS = ("id", "task", "language", "document", "question", "answer", "label", "source", "group", "meta")
REQUIRED = ("document", "answer")
Columns = Mapping[str, str]
"""Where a file has other names: {field of :class:`~judge.types.Sample`: column of the file}."""
# The words that data sets use for the two labels.
LABEL_WORDS = {
    "PASS": Label.PASS, "FAIL": Label.FAIL, "通过": Label.PASS, "失败": Label.FAIL,
}  # fmt: skip


def parse_label(value: object) -> Label | None:
    """The label a data set's word stands for; ``None`` for an absent one. Raises ``InputError`` otherwise."""
    if value is None or value == "":
        return None
    label = LABEL_WORDS.get(str(value).strip().upper())
    if label is None:
        raise InputError(unknown("label", value, LABEL_WORDS))
    return label


def sample_from_row(row: Mapping[str, Any], *, file: object = None, line: int | None = None) -> Sample:
    """Check one row and make it a sample.

    Absent ids are made from the line number, absent groups from the document, so that rows about one
    document stay together.

    Raises:
        InputError: naming file, line and field, what was found and what is wanted.
    """

    def wrong(field: str, message: str) -> InputError:
        return InputError(message, file=file, line=line, field=field)

    for name in row:
        if name not in FIELDS:
            raise wrong(
                name,
                unknown("field", name, FIELDS)
                + f"; put extra values under 'meta', or name the columns: document={name}",
            )
    for name in REQUIRED:
        if name not in row:
            raise wrong(name, f"is missing (the row has: {', '.join(row) or 'nothing'})")

    document = row["document"]
    passages = list(document) if isinstance(document, list | tuple) else [document]
    if not all(isinstance(passage, str) for passage in passages):
        raise wrong("document", f"holds {document!r:.60}, a text or a list of texts is wanted")
    if not any(passage.strip() for passage in passages):
        raise wrong("document", "is empty; a judge needs something to judge against")
    for name in ("answer", "question", "source", "group"):
        if not isinstance(row.get(name, ""), str | None):
            raise wrong(name, f"holds {row[name]!r:.60}, a text is wanted")
    if not row["answer"] or not row["answer"].strip():
        raise wrong("answer", "is empty; there is nothing to judge")

    for name, value in row.items():
        try:
            (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise wrong(name, f"holds half a character ({half}), which no file can hold; remove it") from None

    language = row.get("language") or "en"
    if language not in LANGUAGES:
        raise wrong("language", unknown("language", language, LANGUAGES))
    task = row.get("task") or Task.QA
    if task not in list(Task):
        raise wrong("task", unknown("task", task, list(Task)))
    try:
        label = parse_label(row.get("label"))
    except InputError as error:
        raise wrong("label", str(error)) from None
    meta = row.get("meta") or {}
    if not isinstance(meta, Mapping):
        raise wrong("meta", f"holds {meta!r:.60}, an object is wanted")

    identifier = row.get("id")
    return Sample(
        id=str(identifier) if identifier not in (None, "") else f"row-{line or 1}",
        document=passages[0] if isinstance(document, str) else tuple(passages),
        answer=row["answer"],
        question=row.get("question") or "",
        task=Task(task),
        language=language,
        label=label,
        source=row.get("source") or "",
        group=row.get("group") or "\n\n".join(passages),
        meta=dict(meta),
    )


def row_from_sample(sample: Sample) -> dict[str, Any]:
    """The JSON form of a sample, fields in the order of :data:`FIELDS`."""
    values = {name: getattr(sample, name) for name in FIELDS}
    return {**values, "meta": dict(sample.meta)}


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(sys.maxsize)
    with open_text(path) as stream:
        reader = csv.DictReader(stream)
        for row in reader:
            if None in row:
                raise InputError("has more cells than the header", file=path, line=reader.line_num)
            values: dict[str, Any] = {name: value or "" for name, value in row.items() if name}
            if values.get("meta"):
                try:
                    values["meta"] = json.loads(values["meta"])
                except json.JSONDecodeError:
                    raise InputError("is no JSON", file=path, line=reader.line_num, field="meta") from None
            yield reader.line_num, values


def _parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(path).iter_batches()
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is no Parquet file ({error})", file=path) from None


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line, row)`` of a ``.jsonl``, ``.csv`` or ``.parquet`` file (text ones plain or ``.gz``)."""
    kind = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    readers = {".jsonl": read_jsonl, ".csv": _csv_rows, ".parquet": _parquet_rows}
    if kind not in readers:
        raise InputError(unknown("file type", kind or "(none)", readers), file=path)
    return readers[kind](path)


def read_samples(path: Path, columns: Columns | None = None, *, check_ids: bool = True) -> Iterator[Sample]:
    """Yield the samples of a file, in order.

    Args:
        path: a ``.jsonl``, ``.csv`` or ``.parquet`` file.
        columns: where the file has other names. A field that is not named is then taken from the column of
            its own name, if there is one; what else a row has is left out.
        check_ids: refuse an id that occurs twice, which takes memory for every row.

    Raises:
        InputError: a row is wrong, an id occurs twice, or the file holds no row.
    """
    seen: dict[str, int] = {}
    empty = True
    for line, row in read_rows(path):
        if columns:
            for field, column in columns.items():
                if column not in row:
                    raise InputError(unknown("column", column, row), file=path, line=line, field=field)
            own = {name: row[name] for name in FIELDS if name in row and name not in columns.values()}
            row = {**own, **{field: row[column] for field, column in columns.items()}}
        sample = sample_from_row(row, file=path, line=line)
        if sample.id in seen:
            raise InputError(
                f"{sample.id!r} stands already on line {seen[sample.id]}", file=path, line=line, field="id"
            )
        if check_ids:
            seen[sample.id] = line
        empty = False
        yield sample
    if empty:
        raise InputError("holds no sample", file=path)


def write_samples(path: Path, samples: Iterable[Sample]) -> int:
    """Write samples as JSON Lines; returns their number."""
    return write_jsonl(path, (row_from_sample(sample) for sample in samples))
