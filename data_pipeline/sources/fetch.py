"""``judge data fetch``: downloads the original files of benchmarks to the folders where readers look.

``downloads.yaml`` next to this module lists their addresses. No downloaded code is run.
"""

import ast
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import yaml
from pydantic import PositiveInt

from judge.configs import StrictConfig
from judge.errors import InputError, JudgeError, unknown
from judge.files import sha256_file, write_json
from judge.progress import say, stage

TABLE = Path(__file__).with_name("downloads.yaml")
TIMEOUT = 30.0
"""Seconds to wait for an answer."""


class File(StrictConfig):
    """One file: its path in the data folder, its address, and its size and SHA-256 if known."""

    path: str
    address: str
    bytes: PositiveInt | None = None
    sha256: str | None = None


class Download(StrictConfig):
    """The files of a benchmark; none if it was never released, as its ``note`` then says."""

    licence: str
    note: str | None = None
    files: tuple[File, ...]


class Offline(InputError):
    """An address cannot be reached."""


def downloads() -> dict[str, Download]:
    """All downloads by the name of their folder."""
    found = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return {name: Download.model_validate(values) for name, values in found.items()}


def fetch(names: Sequence[str], folder: Path) -> list[Path]:
    """Download the files that are missing; returns the files written.

    Args:
        names: benchmarks; all of them if empty.
        folder: the data folder, as ``--data-dir`` names it later.

    Raises:
        InputError: a name is unknown.
        Offline: there is no network; the addresses of all missing files were printed.
        JudgeError: an address gave an error, or a file with another size or hash. Complete files stay;
            partial ones are removed.
    """
    table = downloads()
    for name in names:
        if name not in table:
            raise InputError(unknown("benchmark", name, table))
    chosen = {name: table[name] for name in names or table}
    missing = [file for entry in chosen.values() for file in entry.files if not _there(folder / file.path)]
    for name, entry in chosen.items():
        say(f"{name}: licence {entry.licence}" + (f"; {entry.note}" if entry.note else ""))
    written = []
    for file in missing:
        try:
            with stage(f"fetch {file.path}"):
                written.append(_download(file, folder / file.path))
        except Offline as error:
            with suppress(OSError):  # if nothing was there before
                (folder / file.path).parent.rmdir()
            for other in missing[len(written) :]:
                print(f"{other.address}  ->  {folder / other.path}")
            left = len(missing) - len(written)
            raise Offline(
                f"no network ({error}); download the {left} files above elsewhere, and put each where the "
                f"arrow points"
            ) from None
    return written


def _there(path: Path) -> bool:
    return path.is_file() or path.with_name(f"{path.name}.gz").is_file()


def _download(file: File, target: Path) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot be made a folder ({error.strerror}); give another --data-dir"
        raise InputError(message, file=target.parent) from None
    with tempfile.TemporaryDirectory(prefix=".fetch.", dir=target.parent) as scratch:
        part = Path(scratch) / target.name
        request = Request(file.address, headers={"User-Agent": "hallucination-judge"})  # noqa: S310 (https)
        try:
            with urlopen(request, timeout=TIMEOUT) as answer, part.open("wb") as stream:  # noqa: S310
                shutil.copyfileobj(answer, stream)
                promised = answer.headers.get("Content-Length", None if file.sha256 else file.bytes)
        except HTTPError as error:
            raise JudgeError(f"{file.address}: answers {error.code} {error.reason}") from None
        except (OSError, HTTPException) as error:
            raise Offline(f"{file.address}: {getattr(error, 'reason', error)}") from None
        size = part.stat().st_size
        if promised is not None and int(promised) != size:
            raise JudgeError(
                f"{file.address}: gave {size:,} bytes instead of {int(promised):,}, and was not kept; "
                "repeat the command"
            )
        found = sha256_file(part)
        if file.sha256 not in (None, found):
            raise JudgeError(
                f"{file.address}: is another file than it was, and was not kept (SHA-256 {found}, known is "
                f"{file.sha256})"
            )
        if file.address.endswith(".py"):
            write_json(part, read_tasks(part.read_text(encoding="utf-8"), file.address))
        part.replace(target)
    return target


def read_tasks(source: str, name: str) -> list[dict[str, object]]:
    """The ``Task(...)`` calls of a Python file as rows, from its syntax tree; the file is not run.

    Raises:
        JudgeError: if the file is not Python or has no such call, or if an argument is not a named literal.
    """
    try:
        tree = ast.parse(source)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        tasks = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) == "Task"]
        if any(call.args or any(word.arg is None for word in call.keywords) for call in tasks):
            raise ValueError("a task has an argument without a name")
        rows = [{str(word.arg): ast.literal_eval(word.value) for word in call.keywords} for call in tasks]
    except (SyntaxError, ValueError) as error:
        raise JudgeError(f"{name}: the tasks could not be read ({error})") from None
    if not rows:
        raise JudgeError(f"{name}: holds no Task(...)")
    return [{key: value for key, value in row.items() if value is not None} for row in rows]
