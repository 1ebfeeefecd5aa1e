"""Which columns of a file hold the fields of a sample: of the same name, a usual one, or as the user says."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from judge.errors import InputError, unknown
from judge.progress import say
from judge.rows import read_rows

FIELDS = ("id", "task", "language", "document", "question", "answer", "label", "source", "group", "meta")
REQUIRED = ("document", "answer")
Columns = Mapping[str, str]
"""For files with other column names: {field of :class:`~judge.types.Sample`: column of the file}."""
OTHER_NAMES = {
    "document": "documents context contexts passage passages retrieved_contexts evidence knowledge premise "
    "article source source_text text",
    "question": "query prompt user_input input instruction",
    "answer": "response output completion reply prediction generated_answer claim hypothesis summary "
    "gold_answer reference",
    "label": "hallucinated hallucination is_hallucinated is_hallucination faithful is_faithful supported "
    "verdict judgement",
}  # fmt: skip
"""Names that data sets use for the fields of a sample, the most common first."""
_SAY_SO = "; where columns have other names, say so: --columns"
_IN_RECIPE = " (in a data recipe: columns)"


def find_columns(path: Path, given: Columns | None = None) -> Columns:
    """Find the columns of a file that names them in its own way, and say on standard error which are read.

    Args:
        path: a file of one of the :data:`judge.rows.FILE_TYPES`.
        given: columns by field, which are not looked for.

    Returns:
        ``given``, and columns found by their usual names; ``given`` alone if rows have the form of samples,
        or no document or answer is found.

    Raises:
        InputError: if the file cannot be read.
    """
    given = given or {}
    rows = (row for _, row in read_rows(path, given.get("document", "document")))
    row = dict(next(rows, {}))
    if not given and set(REQUIRED) <= set(row) <= set(FIELDS):
        return given
    for later in rows:
        row |= later  # a column may begin in a later row
    free = {name: value for name, value in row.items() if name not in given.values()}
    others = {**other_columns(free), **given}
    own = {name: name for name in FIELDS if name in row and name not in others.values()}
    found = {**own, **others}
    unread = [name for name in row if name not in found.values()]
    if not set(REQUIRED) <= set(found) or (not given and any(map(_misspelt, unread))):
        return given  # reading has a message for it
    columns = ", ".join(f"{field} = {found[field]}" for field in FIELDS if field in found)
    say(f"columns: {columns}{'; not read: ' if unread else ''}{', '.join(unread)}")
    # A column named here must be in every row; a plain "label" or "question" may be missing in some.
    return {field: name for field, name in found.items() if field != name or field in REQUIRED}


def _misspelt(name: str) -> bool:
    """Whether a column may be a field with a slip of the pen; not ``answer_id`` or ``question_type``."""
    return any(field not in name.lower() for field in get_close_matches(name, FIELDS, n=1, cutoff=0.75))


def unknown_field(name: str, row: Mapping[str, Any], file: object) -> str:
    """The message for a field that samples do not have."""
    if renamed := _renamed(row, file):
        return f"unknown field {name!r:.80}{renamed}"
    more = "put extra values under 'meta'"
    if file is not None:
        more += ", or name the columns to read, and others are left out: --columns document=...,answer=..."
        more += _IN_RECIPE
    return f"{unknown('field', name, FIELDS)}; {more}"


def missing_field(row: Mapping[str, Any], file: object, columns: Columns | None = None) -> str:
    """The message for a row without a document or an answer; ``columns`` are those already given."""
    has = f"{', '.join(row) or 'nothing'}"
    other = "" if file is None else f"{_SAY_SO} FIELD=COLUMN,...{_IN_RECIPE}"
    return f"is missing (the row has: {has:.200}){_renamed(row, file, columns) or other}"


def other_columns(row: Mapping[str, Any]) -> dict[str, str]:
    """Fields of a sample that a row holds under another name, and that name."""
    there = {str(name).strip().lower(): name for name in row}
    found: dict[str, str] = {}
    for field in FIELDS:
        usual = (field, *OTHER_NAMES.get(field, "").split())
        column = next((there[name] for name in usual if name in there), field)
        text = field == "meta" and isinstance(row.get(column), str)  # of any form
        if column not in (field, *found.values()) and not text:
            found[field] = column
    return found


def _renamed(row: Mapping[str, Any], file: object, columns: Columns | None = None) -> str:
    """Advice for a row with other names: the ``--columns`` to write, including ``columns`` already given."""
    found = {**other_columns(row), **(columns or {})}
    if len(found) == len(columns or {}):
        return ""
    if file is None:
        return "; rename " + ", ".join(f"{column!r} to {field!r}" for field, column in found.items())
    pairs = ",".join(f"{field}={column}" for field, column in found.items())
    return f"{_SAY_SO} {pairs}{_IN_RECIPE}"


def named_fields(
    row: Mapping[str, Any], columns: Columns | None, file: object, line: int | None = None
) -> dict[str, Any]:
    """A row keyed by field. Fields not in ``columns`` are read from the column of the same name.

    Raises:
        InputError: if a column in ``columns`` or a required field is missing.
    """
    columns = columns or {}
    for field, column in columns.items():
        if column not in row:
            raise InputError(unknown("column", column, row), file=file, line=line, field=field)
    found = dict(row)
    if columns:
        own = {name: row[name] for name in FIELDS if name in row and name not in columns.values()}
        found = {**own, **{field: row[column] for field, column in columns.items()}}
    for name in REQUIRED:
        if name not in found:
            raise InputError(missing_field(row, file, columns), file=file, line=line, field=name)
    return found
