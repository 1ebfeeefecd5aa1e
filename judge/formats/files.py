"""Finds the files of a public data set."""

import os
from collections.abc import Sequence
from pathlib import Path

from judge.errors import InputError
from judge.files import sha256_text

DATA_DIR_ENV = "JUDGE_DATA_DIR"


class MissingFiles(InputError):
    """The files of a data set are not available; the message says where to get them."""


def resolve_data_dir(data_dir: Path | None) -> Path | None:
    """The folder given, else that of ``JUDGE_DATA_DIR``, else ``None``; it has to exist."""
    named = os.environ.get(DATA_DIR_ENV)
    if data_dir is None and not named:
        return None
    folder = Path(data_dir or named or "")
    if not folder.is_dir():
        raise InputError("no such folder; it should hold one folder for each data set", file=folder)
    return folder


def need_folder(data_dir: Path | None, title: str, name: str, where: str) -> Path:
    """The data folder, for a set that is not on the Hub in its original form.

    Args:
        title: the usual name of the set.
        name: its folder in the data folder.
        where: where to get the original files.

    Raises:
        MissingFiles: if there is no data folder.
    """
    if data_dir is None:
        raise MissingFiles(
            f"{title} is read from its original files: get them from {where}, put them into DIR/{name} and "
            f"give DIR as --data-dir or {DATA_DIR_ENV}"
        )
    return data_dir


def find_file(data_dir: Path, benchmark: str, names: Sequence[str], where: str) -> Path:
    """The first of ``names``, plain or ``.gz``, in the folder ``data_dir/benchmark``.

    Args:
        where: where to get the original files, for the message.

    Raises:
        MissingFiles: if none is there; lists the names that were tried.
    """
    folder = data_dir / benchmark
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    looked = ", ".join(names)
    found = (
        f"has none of: {looked}" if folder.is_dir() else f"no such folder (expected in it, one of: {looked})"
    )
    raise MissingFiles(f"{found}; plain or .gz; the original files are at {where}", file=folder)


def find_files(data_dir: Path, name: str, pattern: str, where: str) -> list[Path]:
    """All files below the folder ``data_dir/name`` whose names match a glob ``pattern``, plain or ``.gz``.

    They are sorted by path; a file that exists in both forms is listed once.

    Args:
        where: where to get the original files, for the message.

    Raises:
        MissingFiles: if none is there.
    """
    folder = data_dir / name
    found = {path.with_suffix(""): path for path in folder.rglob(f"{pattern}.gz")}
    found |= {path: path for path in folder.rglob(pattern)}
    if not found:
        problem = (
            f"has no file {pattern}" if folder.is_dir() else f"no such folder (expected in it: {pattern})"
        )
        raise MissingFiles(f"{problem}; plain or .gz; the original files are at {where}", file=folder)
    return [found[path] for path in sorted(found)]


def hub_files(repo: str, pattern: str) -> list[Path]:
    """Fetch the files of a Hub data set that match a glob ``pattern``, sorted by name.

    Raises:
        MissingFiles: if the Hub cannot be reached and the files are not cached locally, or none matches.
    """
    from huggingface_hub import snapshot_download

    remedy = f"put its original files into a folder and name that with --data-dir or {DATA_DIR_ENV}"
    try:
        folder = Path(snapshot_download(repo, repo_type="dataset", allow_patterns=[pattern]))
    except Exception as error:  # the Hub client raises its own errors, httpx's and the system's
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise MissingFiles(
            f"data set {repo} could not be fetched from the Hub ({reason:.200}); {remedy}"
        ) from None
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise MissingFiles(f"data set {repo} has no file {pattern} here (offline, or it moved); {remedy}")
    return paths


def group_of(document: str) -> str:
    """A short stable name for a document, the same in every data set."""
    return sha256_text(" ".join(document.split()))[:16]
