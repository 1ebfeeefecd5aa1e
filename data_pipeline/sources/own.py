"""Sources that a recipe names itself: files, data sets of the Hub, and files in SQuAD's format.

Rows are either samples, with columns mapped to fields, or have one of the
:data:`~data_pipeline.sources.forms.FORMS`.
"""

import glob
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from data_pipeline.sources import hub, squad
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.forms import read_row
from data_pipeline.sources.forms.base import Asked, LeftOut
from judge.columns import named_fields
from judge.errors import InputError, unknown
from judge.formats.files import group_of
from judge.formats.records import Record
from judge.rows import FILE_TYPES, file_type, meanings_of, plain_label, read_rows
from judge.samples import sample_from_row
from judge.types import Sample


def read(source: SourceConfig, seed: int) -> Iterator[tuple[Record, Sample | LeftOut]]:
    """Every sample of the source, in order, with the row that it comes from.

    Ids of rows are kept. Rows without an id are named by file and line (``answers-7``).

    Raises:
        InputError: naming file, line and field.
    """
    constants = source.constants.model_dump(exclude_none=True)
    if source.kind == "squad" and source.form is None:
        path = Path(source.path or "")
        for sample in squad.read(path, _stem(path), "en", window_tokens=source.window_tokens):
            yield Record({}, path), replace(sample, **constants)
        return
    labels = {**meanings_of((source.columns or {}).get("label", "")), **(source.labels or {})}
    asked = Asked(labels, seed)
    for row in _records(source):
        unsaid = {name: value for name, value in constants.items() if row.values.get(name) in (None, "")}
        record = replace(row, values={**row.values, **unsaid})
        word = plain_label(record.values.get("label"))
        if source.form is None and word in labels and labels[word] is None:
            yield record, LeftOut(str(record.values["id"]), "label that the recipe leaves out")
        elif source.form is None:
            sample = sample_from_row(record.values, file=record.file, line=record.line, labels=labels)
            if not record.values.get("group"):  # a document has the same group in every source
                sample = replace(sample, group=group_of(sample.document_text))
            yield record, sample
        else:
            found = read_row(source.form, record, asked)
            for item in [found] if isinstance(found, LeftOut) else found:
                yield record, item


def files_of(path: str) -> list[Path]:
    """The files at a path (a file, a folder or a glob), sorted by name.

    Subfolders of a folder are ignored; ``**`` in a glob matches them.

    Raises:
        InputError: a folder has no file of samples, or nothing matches the glob.
    """
    named = Path(path)
    if named.is_dir():
        found = sorted(item for item in named.iterdir() if item.is_file() and file_type(item) in FILE_TYPES)
        if not found:
            raise InputError(f"is a folder without a file of samples ({', '.join(FILE_TYPES)})", file=path)
        return found
    if not named.exists() and glob.has_magic(path):
        matches = glob.iglob(path, recursive=True)  # noqa: PTH207 (a pattern may start anywhere)
        found = sorted(Path(item) for item in matches if Path(item).is_file())
        if not found:
            raise InputError("matches no file", file=path)
        return found
    return [named]


def _records(source: SourceConfig) -> Iterator[Record]:
    """The rows of a source with columns renamed to fields, an id, and the name of the set."""
    path = source.path or ""
    if source.kind == "squad":
        name = _stem(Path(path))
        for record in squad.read_rows(Path(path), source.window_tokens):
            values = {**record.values, "id": f"{name}-{record.name('id')}", "source": name}
            yield Record(values, record.file, None, record.place)
    elif source.kind == "hub":
        split = source.split or "train"
        start = f"{path.rstrip('/').rpartition('/')[2]}-{split}"
        for number, row in enumerate(hub.read_rows(path, source.subset, split), start=1):
            yield _record(source, row, path, number, f"{start}-{number}", path)
    else:
        for file in files_of(path):
            empty = True
            for line, row in read_rows(file, (source.columns or {}).get("document", "document")):
                empty = False
                yield _record(source, row, file, line, f"{_stem(file)}-{line}", _stem(file))
            if empty:
                raise InputError("holds no sample", file=file)


def _record(
    source: SourceConfig, row: dict[str, Any], file: object, line: int, identifier: str, name: str
) -> Record:
    if source.form is None:
        row = named_fields(row, source.columns, file, line)
    elif source.columns:
        for field, column in source.columns.items():
            if column not in row:
                raise InputError(unknown("column", column, row), file=file, line=line, field=field)
        row = {field: row[column] for field, column in source.columns.items()}
    if row.get("id") in (None, ""):
        row["id"] = identifier
    row["source"] = row.get("source") or name
    return Record(row, file, line)


def _stem(path: Path) -> str:
    """A file's name without its type and ``.gz``."""
    name = path.name.removesuffix(".gz")
    return next((name.removesuffix(end) for end in FILE_TYPES if name.endswith(end)), Path(name).stem)
