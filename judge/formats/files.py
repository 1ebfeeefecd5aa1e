"""Where the files of a public data set lie."""

import os
from collections.abc import Sequence
from pathlib import Path

from judge.errors import InputError
from judge.files import sha256_text

DATA_DIR_ENV = "JUDGE_DATA_DIR"


class MissingFiles(InputError):
    """The files of a data set are not available; the message says where they can be had."""


def resolve_data_dir(data_dir: Path | None) -> Path | None:
    """The folder given, else the one that ``JUDGE_DATA_DIR`` names, else ``None``; it has to exist."""
    named = os.environ.get(DATA_DIR_ENV)
    if data_dir is None and not named:
        return None
    folder = Path(data_dir or named or "")
    if not folder.is_dir():
        raise InputError("no such folder; it should hold one folder for each data set", file=folder)
    return folder


def need_folder(data_dir: Path | None, title: str, name: str, where: str) -> Path:
    """The data folder, for a set that the Hub does not have in its original form.

    Args:
        title: what people call the set.
        name: its folder in the data folder.
        where: where the original files can be had.

    Raises:
        MissingFiles: there is no data folder.
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
        where: where the original files can be had, for the message.

    Raises:
        MissingFiles: none is there; lists what was looked for.
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

    They come in the order of their paths; a file that is there in both forms comes once.

    Args:
        where: where the original files can be had, for the message.

    Raises:
        MissingFiles: none is there.
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
    """Fetch the files of a Hub data set that match a glob ``pattern``, in the order of their names.

    Raises:
        MissingFiles: the Hub cannot be reached and the files are not in the local cache, or none matches.
    """
    from huggingface_hub import snapshot_download

    remedy = f"put its original files into a folder and name that with --data-dir or {DATA_DIR_ENV}"
    try:
        folder = Path(snapshot_download(repo, repo_type="dataset", allow_patterns=[pattern]))
    except Exception as error:  # the Hub client raises its own, httpx's and the system's errors
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise MissingFiles(
            f"data set {repo} could not be fetched from the Hub ({reason:.200}); {remedy}"
        ) from None
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise MissingFiles(f"data set {repo} has no file {pattern} here (offline, or it moved); {remedy}")
    return paths


def group_of(document: str) -> str:
    """A stable short name for a document: the same in whichever set the text turns up."""
    return sha256_text(" ".join(document.split()))[:16]
