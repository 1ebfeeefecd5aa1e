"""Files that are either complete or absent (``whole``), and guards for a long run's output (``runs``)."""

from judge.files.runs import check_output, differences, is_stream, locked
from judge.files.whole import (
    JUDGE_FILE,
    Appender,
    appearing,
    dump,
    open_text,
    parse_json,
    read_jsonl,
    read_whole,
    replacing,
    sha256_file,
    sha256_text,
    whole_rows,
    write_json,
    write_jsonl,
    write_text,
)

__all__ = [
    "JUDGE_FILE",
    "Appender",
    "appearing",
    "check_output",
    "differences",
    "dump",
    "is_stream",
    "locked",
    "open_text",
    "parse_json",
    "read_jsonl",
    "read_whole",
    "replacing",
    "sha256_file",
    "sha256_text",
    "whole_rows",
    "write_json",
    "write_jsonl",
    "write_text",
]
