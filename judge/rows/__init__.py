"""Rows of files: ``kinds`` of files, ``streams``, names of ``outputs``, ``labels`` in data sets' words."""

from judge.rows.kinds import FILE_TYPES, file_type, read_rows
from judge.rows.labels import Meanings, meanings_of, parse_label, plain_label
from judge.rows.outputs import check_jsonl_outputs, check_outputs
from judge.rows.streams import as_file

__all__ = [
    "FILE_TYPES", "Meanings",
    "as_file", "check_jsonl_outputs", "check_outputs", "file_type", "meanings_of", "parse_label",
    "plain_label", "read_rows",
]  # fmt: skip
