"""Reads samples from files and requests, checking each row once; writes samples as JSON Lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.columns import FIELDS, REQUIRED, Columns, missing_field, named_fields, unknown_field
from judge.errors import InputError, unknown
from judge.files import parse_json, write_jsonl
from judge.rows import Meanings, check_jsonl_outputs, meanings_of, parse_label, read_rows
from judge.types import LANGUAGES, Sample, Task, lone_surrogate


def sample_from_row(
    row: Mapping[str, Any],
    *,
    file: object = None,
    line: int | None = None,
    labels: Meanings | None = None,
    labelled: bool = True,
) -> Sample:
    """Check one row of a file, a request or another framework, and make it a sample.

    A missing id is made from the line number, a missing group from the document, so that rows about one
    document stay together.

    Args:
        row: the fields of a sample; task and language in any letter case, ids may be numbers.
        file: the file of the row, for error messages, as is ``line``.
        line: from 1.
        labels: what the data set's own labels mean, see :func:`parse_label`.
        labelled: refuse unknown labels; ``False`` drops them, for uses that need none.

    Raises:
        InputError: if the row is wrong; names file, line and field, what was found and what is expected.
    """

    def wrong(field: str, message: str) -> InputError:
        return InputError(message, file=file, line=line, field=field)

    for name in row:
        if name not in FIELDS:
            raise wrong(name, unknown_field(name, row, file))
    for name in REQUIRED:
        if name not in row:
            raise wrong(name, missing_field(row, file))

    document = row["document"]
    passages = list(document) if isinstance(document, list | tuple) else [document]
    if not all(isinstance(passage, str) for passage in passages):
        raise wrong("document", f"holds {document!r:.60}, expected a text or a list of texts")
    for name in ("answer", "question", "source", "group"):
        if not isinstance(row.get(name, ""), str | None):
            raise wrong(name, f"holds {row[name]!r:.60}, expected a text")
    for name, value in row.items():
        if name in ("document", "answer", "question"):
            continue  # Sample.fault checks these
        try:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        except RecursionError:
            raise wrong(name, "is nested too deep") from None
        if fault := lone_surrogate(text):
            raise wrong(name, fault)

    language = _choice(row.get("language"), "en")
    if language not in LANGUAGES:
        known = " or ".join(LANGUAGES)
        raise wrong("language", f"holds {language!r:.60}, expected {known}; omit it for other languages")
    task = _choice(row.get("task"), Task.QA)
    if task not in list(Task):
        raise wrong("task", unknown("task", task, list(Task)))
    label = None
    try:
        label = parse_label(row.get("label"), labels)
    except InputError as error:
        if labelled:
            raise wrong("label", str(error)) from None
    meta = {} if row.get("meta") in (None, "") else row["meta"]
    if isinstance(meta, str) and meta.startswith("{"):  # a cell of a table
        try:
            meta = parse_json(meta)
        except (ValueError, RecursionError):
            raise wrong("meta", f"is not valid JSON, expected an object: {meta!r:.60}") from None
    if not isinstance(meta, Mapping):
        raise wrong("meta", f"holds {meta!r:.60}, expected an object")
    identifier = row.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int | float | None):
        raise wrong("id", f"holds {identifier!r:.60}, expected a text or a number")

    sample = Sample(
        id=str(identifier) if identifier not in (None, "") else f"row-{line or 1}",
        document=passages[0] if isinstance(document, str) else tuple(passages),
        answer=row["answer"] or "",
        question=row.get("question") or "",
        task=Task(task),
        language=language,
        label=label,
        source=row.get("source") or "",
        group=row.get("group") or "\n\n".join(passages),
        meta=dict(meta),
    )
    if sample.fault is not None:
        raise wrong(*sample.fault)
    return sample


def _choice(value: Any, default: str) -> Any:
    """One of a few words, in any letter case; ``default`` if empty."""
    value = value.strip().lower() if isinstance(value, str) else value
    return default if value in (None, "") else value


def row_from_sample(sample: Sample) -> dict[str, Any]:
    """The JSON form of a sample, fields in the order of :data:`FIELDS`."""
    values = {name: getattr(sample, name) for name in FIELDS}
    return {**values, "meta": dict(sample.meta)}


def read_samples(
    path: Path | str,
    columns: Columns | None = None,
    *,
    check_ids: bool = True,
    labels: Meanings | None = None,
    labelled: bool = True,
    gold: bool = False,
) -> Iterator[Sample]:
    """Yield the samples of a file, in order.

    Args:
        path: a file of one of the :data:`judge.rows.FILE_TYPES`.
        columns: the file's columns, by field. A field that is not named is read from the column of the same
            name, if there is one; other columns are ignored.
        check_ids: refuse duplicate ids, which takes memory for every row.
        labels: what the file's own labels mean, see :func:`parse_label`. Yes and no are understood if the
            label column is named after one label (``is_hallucinated``).
        labelled: refuse unknown labels; ``False`` drops them, for uses that need none.
        gold: refuse samples without a label.

    Raises:
        InputError: if a row is wrong, an id occurs twice, or the file has no rows.
    """
    path, columns = Path(path), columns or {}
    labels = {**meanings_of(columns.get("label", "")), **(labels or {})}
    seen: dict[str, int] = {}
    empty = True
    for line, row in read_rows(path, columns.get("document", "document")):
        row = named_fields(row, columns, path, line)
        sample = sample_from_row(row, file=path, line=line, labels=labels, labelled=labelled)
        if gold and sample.label is None:
            message = f"is missing; sample {sample.id!r:.80} needs a gold label (PASS or FAIL)"
            raise InputError(message, file=path, line=line, field="label")
        if sample.id in seen:
            raise InputError(
                f"{sample.id!r} is already on line {seen[sample.id]}", file=path, line=line, field="id"
            )
        if check_ids:
            seen[sample.id] = line
        empty = False
        yield sample
    if empty:
        raise InputError("holds no sample", file=path)


def write_samples(path: Path | str, samples: Iterable[Sample]) -> int:
    """Write samples as JSON Lines; returns their number. :func:`read_samples` reads what was written.

    Raises:
        InputError: if the file is named like another kind, a sample has a fault or an id occurs twice; then
            nothing is written.
    """
    check_jsonl_outputs([Path(path)], (), "samples")
    seen: set[str] = set()

    def row(sample: Sample) -> dict[str, Any]:
        if fault := sample.fault:
            field, message = fault
            raise InputError(f"{message} (sample {sample.id!r:.80})", file=path, field=field)
        if sample.id in seen:
            raise InputError(f"two samples have the id {sample.id!r:.80}", file=path, field="id")
        seen.add(sample.id)
        return row_from_sample(sample)

    return write_jsonl(Path(path), map(row, samples))
