"""Texts on the command line: the text itself, ``@FILE``, or ``-`` for standard input, without guessing."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from judge.errors import InputError

SUFFIXES = (
    ".txt", ".text", ".md", ".rst", ".json", ".jsonl", ".csv", ".tsv", ".xml", ".html", ".htm", ".pdf",
    ".docx", ".yaml", ".yml", ".log", ".tex",
)  # fmt: skip
HELP = "the text, @FILE to read a file, or - for standard input"
_ADDRESS = re.compile(r"https?://\S+")
_FOLDERS = re.compile(r"(?=.*[A-Za-z])[!-~]*[/\\][!-~]*")
"""One ASCII word with a slash and a letter: docs/tower, but not 24/7."""


def read_texts(given: Mapping[str, str]) -> dict[str, str]:
    """The texts that options give; ``@@`` stands for an ``@`` at the beginning of a text.

    Args:
        given: values by option, such as ``{"--answer": "@answer.txt"}``.

    Raises:
        InputError: if a file cannot be read, a text looks like a file name, or two are standard input.
    """
    streamed = [option for option, value in given.items() if value == "-"]
    if len(streamed) > 1:
        raise InputError(f"{' and '.join(streamed)} cannot both be standard input; give one of them as @FILE")
    return {option: _read(option, value) for option, value in given.items()}


def _read(option: str, value: str) -> str:
    if value == "-":
        return _stream(option)
    if value.startswith("@@"):
        return value[1:]
    if value.startswith("@"):
        return _file(option, Path(os.path.expanduser(value[1:])))  # noqa: PTH111 (that of Path raises)
    if _ADDRESS.fullmatch(value):
        raise InputError(
            f"{value} is an address, and nothing is fetched; give the text, or @FILE", field=option
        )
    if _looks_like_a_path(value):
        raise InputError(
            f"{value!r} looks like a file; did you mean {option} @{value}? If it is the text itself, put a "
            "space before it",
            field=option,
        )
    return value


def _looks_like_a_path(value: str) -> bool:
    """Is it an existing file, or a single word that looks like a file name?"""
    try:
        if Path(value).is_file():
            return True
    except (OSError, ValueError):  # not a file name: too long, or with a null character
        return False
    named = value.lower().endswith(SUFFIXES) and not re.search(r"\s", value)
    return named or _FOLDERS.fullmatch(value) is not None


def _file(option: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{option} could not be read ({error.strerror})", file=path) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{option} is not UTF-8 text (byte {error.start}); convert it to plain text first", file=path
        ) from None


def _stream(option: str) -> str:
    if sys.stdin is None:
        raise InputError("standard input is closed; give the text, or @FILE", field=option)
    try:
        text = sys.stdin.read()
        text.encode()  # in the C locale, Python reads other bytes as half characters
    except UnicodeError:
        message = "standard input is not UTF-8 text; convert it to plain text first"
        raise InputError(message, field=option) from None
    return text
