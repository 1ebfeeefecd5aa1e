"""Rows of any data set of the Hub, streamed."""

from collections.abc import Iterator
from typing import Any

from judge.errors import InputError, require


def read_rows(path: str, subset: str | None, split: str) -> Iterator[dict[str, Any]]:
    """The rows of one split as plain dictionaries, with labels as names if the set declares them.

    Args:
        path: name on the Hub, ``owner/name``, or a local folder that the ``datasets`` library reads.
        subset: the configuration, if the set has several.

    Raises:
        InputError: the set cannot be fetched, or the split has no rows.
    """
    require("kind hub", "data", "datasets")
    from datasets import ClassLabel, load_dataset

    empty = True
    try:
        rows = load_dataset(path, subset, split=split, streaming=True)
        kinds = getattr(rows, "features", None) or {}
        names = {column: kind.names for column, kind in kinds.items() if isinstance(kind, ClassLabel)}
        for row in map(dict, rows):
            empty = False
            for column, known in names.items():
                if type(place := row.get(column)) is int:  # -1 if annotators disagreed
                    row[column] = known[place] if place >= 0 else None
            yield row
    except Exception as error:  # from the library, the Hub client, httpx or the system
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"data set {path}, split {split!r}, could not be read from the Hub ({reason:.300}); "
            "check its name, subset and split, or download it and use kind file"
        ) from None
    if empty:
        raise InputError(f"split {split!r} holds no row", file=path)
