"""Where the files of a public data set lie, and the checks that every loader makes on a row."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import sha256_text
from judge.formats.records import Record
from judge.samples import parse_label
from judge.types import Label

DATA_DIR_ENV = "JUDGE_DATA_DIR"


def resolve_data_dir(data_dir: Path | None) -> Path | None:
    """The folder given, else the one that ``JUDGE_DATA_DIR`` names, else ``None``; it has to exist."""
    named = os.environ.get(DATA_DIR_ENV)
    if data_dir is None and not named:
        return None
    folder = Path(data_dir or named or "")
    if not folder.is_dir():
        raise InputError("no such folder; it should hold one folder for each data set", file=folder)
    return folder


def find_file(data_dir: Path, benchmark: str, names: Sequence[str], where: str) -> Path:
    """The first of ``names``, plain or ``.gz``, in the folder ``data_dir/benchmark``.

    Args:
        where: where the original files can be had, for the message.

    Raises:
        InputError: none is there; lists what was looked for.
    """
    folder = data_dir / benchmark
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    looked = ", ".join(names)
    found = (
        f"has none of: {looked}" if folder.is_dir() else f"no such folder (wanted in it, any of: {looked})"
    )
    raise InputError(f"{found}; plain or .gz; the original files are at {where}", file=folder)


def find_files(data_dir: Path, name: str, pattern: str, where: str) -> list[Path]:
    """All files below the folder ``data_dir/name`` whose names match a glob ``pattern``, plain or ``.gz``.

    They come in the order of their paths; a file that is there in both forms comes once.

    Args:
        where: where the original files can be had, for the message.

    Raises:
        InputError: none is there.
    """
    folder = data_dir / name
    found = {path.with_suffix(""): path for path in folder.rglob(f"{pattern}.gz")}
    found |= {path: path for path in folder.rglob(pattern)}
    if not found:
        problem = f"has no file {pattern}" if folder.is_dir() else f"no such folder (wanted in it: {pattern})"
        raise InputError(f"{problem}; plain or .gz; the original files are at {where}", file=folder)
    return [found[path] for path in sorted(found)]


def hub_files(repo: str, pattern: str) -> list[Path]:
    """Fetch the files of a Hub data set that match a glob ``pattern``, in the order of their names.

    Raises:
        InputError: the Hub cannot be reached and the files are not in the local cache, or none matches.
    """
    from huggingface_hub import snapshot_download

    remedy = f"put its original files into a folder and name that with --data-dir or {DATA_DIR_ENV}"
    try:
        folder = Path(snapshot_download(repo, repo_type="dataset", allow_patterns=[pattern]))
    except Exception as error:  # the Hub client raises its own, httpx's and the system's errors
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"data set {repo} could not be fetched from the Hub ({reason:.200}); {remedy}"
        ) from None
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise InputError(f"data set {repo} has no file {pattern} here (offline, or it moved); {remedy}")
    return paths


def group_of(document: str) -> str:
    """A stable short name for a document: the same for twins, and in whichever set the text turns up."""
    return sha256_text(" ".join(document.split()))[:16]


def text_of(row: Mapping[str, Any], field: str, *, file: Path, line: int, empty: bool = False) -> str:
    """A text field of a row, as it stands.

    Raises:
        InputError: it is missing, no text, or blank where ``empty`` is false.
    """
    return Record(row, file, line).text(field, empty=empty)


def label_of(row: Mapping[str, Any], field: str, *, file: Path, line: int) -> Label:
    """A gold label of a row.

    Raises:
        InputError: it is missing, empty, or no label word.
    """
    value = text_of(row, field, file=file, line=line)
    try:
        label = parse_label(value)
    except InputError as error:
        raise InputError(str(error), file=file, line=line, field=field) from None
    if label is None:
        raise InputError("is empty, a benchmark needs gold labels", file=file, line=line, field=field)
    return label
