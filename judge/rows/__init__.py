"""Rows of files: file ``kinds``, ``streams`` and other encodings, and ``labels`` in data sets' words."""

from judge.rows.kinds import FILE_TYPES, file_type, read_rows
from judge.rows.labels import Meanings, meanings_of, parse_label, plain_label
from judge.rows.streams import as_file

__all__ = [
    "FILE_TYPES", "Meanings",
    "as_file", "file_type", "meanings_of", "parse_label", "plain_label", "read_rows",
]  # fmt: skip
