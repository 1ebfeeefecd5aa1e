"""Records of data files that know their place, so that every wrong field gets a clear message."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from judge.errors import InputError
from judge.files import load_json, read_json, read_jsonl
from judge.rows import parse_label
from judge.types import Label, lone_surrogate, shows

Item = TypeVar("Item")

REMEDY = "; fetch the original file again"


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object of a file: a line of JSON Lines, or a part of a JSON document.

    Every method raises :class:`InputError` if the field is not of the expected form.

    Args:
        values: the object.
        file: the file it is in.
        line: its line, from 1, if the format has lines.
        place: its dotted path of keys and positions (from 0) in a JSON document, such as ``data.3``.
    """

    values: Mapping[str, Any]
    file: object
    line: int | None = None
    place: str = ""

    def wrong(self, field: str, message: str) -> InputError:
        """The error for one field, with file, line and place."""
        return InputError(message, file=self.file, line=self.line, field=_join(self.place, field))

    def checked(self, field: str, text: str) -> str:
        """The text, unless a JSON escape in it is half a character, which cannot be written again."""
        if fault := lone_surrogate(text):
            raise self.wrong(field, fault)
        return text

    def get(self, field: str) -> Any:
        """A field of any type; required."""
        if field not in self.values:
            # CSV readers leave out empty cells.
            has = f"{', '.join(self.values) or 'nothing'}"
            raise self.wrong(field, f"is missing or empty (the row has: {has:.300})")
        return self.values[field]

    def text(self, field: str, *, empty: bool = False) -> str:
        """A text, unchanged; blank only if ``empty`` allows it."""
        return self._text(field, self.get(field), empty)

    def texts(self, field: str) -> list[str]:
        """A list of texts, unchanged, with at least one that is not blank."""
        items = self._list(field)
        found = [self._text(f"{field}.{number}", item, True) for number, item in enumerate(items)]
        if not any(map(shows, found)):
            raise self.wrong(field, "is empty")
        return found

    def name(self, field: str) -> str:
        """An identifier, a text or a whole number, as a text."""
        value = self.get(field)
        return str(value) if type(value) is int else self.text(field)

    def label(self, field: str) -> Label:
        """A gold label in one of the words that data sets use (:data:`judge.rows.labels.LABEL_WORDS`)."""
        try:
            label = parse_label(self.text(field))
        except InputError as error:
            raise self.wrong(field, str(error)) from None
        if label is None:
            raise self.wrong(field, "is empty, expected a gold label")
        return label

    def record(self, field: str) -> "Record":
        """An object."""
        return self._record(field, self.get(field))

    def records(self, field: str, *, empty: bool = False) -> list["Record"]:
        """A list of objects, with at least one unless ``empty`` allows none."""
        items = self._list(field)
        if not items and not empty:
            raise self.wrong(field, "is empty")
        return [self._record(f"{field}.{number}", item) for number, item in enumerate(items)]

    def named(self, field: str) -> Iterator[tuple[str, "Record"]]:
        """An object of objects, with their names."""
        inner = self.record(field)
        for name in inner.values:
            yield name, inner.record(name)

    def _list(self, field: str) -> list[Any]:
        value = self.get(field)
        if not isinstance(value, list):
            raise self.wrong(field, f"holds {value!r:.60}, expected a list")
        return value

    def _record(self, field: str, value: Any) -> "Record":
        if not isinstance(value, dict):
            raise self.wrong(field, f"holds {value!r:.60}, expected an object")
        return Record(value, self.file, self.line, _join(self.place, field))

    def _text(self, field: str, value: Any, empty: bool) -> str:
        if not isinstance(value, str):
            raise self.wrong(field, f"holds {value!r:.60}, expected a text")
        if not empty and not shows(value):
            raise self.wrong(field, "is empty")
        return self.checked(field, value)


def _join(place: str, field: str) -> str:
    return f"{place}.{field}" if place else field


def read_lines(path: Path) -> Iterator[Record]:
    """The objects of a JSON Lines file, plain or ``.gz``."""
    for line, row in read_jsonl(path):
        yield Record(row, path, line)


def nonempty(rows: Iterable[Item], path: Path) -> Iterator[Item]:
    """Pass the rows of a file through; raises ``InputError`` if there are none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise InputError("holds no row", file=path)


def read_object(path: Path) -> Record:
    """A JSON file, plain or ``.gz``, that holds one object.

    Raises:
        InputError: if it is not valid JSON, or not an object.
    """
    return Record(read_json(path, REMEDY), path)


def read_records(path: Path) -> Iterator[tuple[str, Record]]:
    """The records of a JSON file, plain or ``.gz``: a list of objects, or an object of them by name.

    Yields:
        The name of a record, or its position from 0, and the record.

    Raises:
        InputError: if it is not valid JSON, or not records.
    """
    value = load_json(path, REMEDY)
    if isinstance(value, list):
        value = {str(number): item for number, item in enumerate(value)}
    if not isinstance(value, dict):
        raise InputError(f"holds a JSON {type(value).__name__}, expected a list of objects", file=path)
    whole = Record(value, path)
    for name in value:
        yield name, whole.record(name)
