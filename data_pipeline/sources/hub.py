"""Any data set of the Hub, streamed, by a mapping of its columns to the fields of a sample."""

from collections.abc import Iterator, Mapping
from typing import Any

from judge.errors import InputError, unknown
from judge.samples import sample_from_row
from judge.types import Sample


def read(
    path: str, subset: str | None, split: str, columns: Mapping[str, str] | None = None
) -> Iterator[Sample]:
    """The samples of one split.

    Args:
        path: name on the Hub, ``owner/name``, or a local folder that the ``datasets`` library reads.
        subset: its configuration, where it has several.
        columns: ``{field of a sample: column}``; without it, the columns have the names of the fields.

    Raises:
        InputError: it cannot be fetched, a row is wrong, or it holds no row.
    """
    number = 0
    for number, values in enumerate(_rows(path, subset, split), start=1):
        row = values
        if columns is not None:
            for field, column in columns.items():
                if column not in values:
                    raise InputError(unknown("column", column, values), file=path, line=number, field=field)
            row = {field: values[column] for field, column in columns.items()}
        row.setdefault("id", f"{path.rstrip('/').rpartition('/')[2]}-{split}-{number}")
        row.setdefault("source", path)
        yield sample_from_row(row, file=path, line=number)
    if number == 0:
        raise InputError(f"split {split!r} holds no row", file=path)


def _rows(path: str, subset: str | None, split: str) -> Iterator[dict[str, Any]]:
    """Rows as plain dictionaries; whatever goes wrong on the way to them is one clear error."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise InputError("kind hub needs the 'datasets' library: pip install datasets") from None
    try:
        yield from map(dict, load_dataset(path, subset, split=split, streaming=True))
    except Exception as error:  # the library's own, the Hub client's, httpx's, the system's
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"data set {path}, split {split!r}, could not be read from the Hub ({reason:.300}); "
            "check its name, subset and split, or download it and use kind file"
        ) from None
