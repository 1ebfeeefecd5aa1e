"""Files that are either complete or absent: gzip-aware reading, write-and-rename, append-and-resume."""

import codecs
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Any

from judge.errors import InputError, JudgeError
from judge.files.runs import check_names, check_output

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""
JUDGE_FILE = "judge.json"
"""The file next to a judge's weights with its prompt and mode, its origin and its calibration."""


@contextmanager
def open_text(path: Path, remedy: str = "save it as UTF-8") -> Iterator[IO[str]]:
    """Open a plain or ``.gz`` text file as UTF-8; a damaged archive or encoding is an :class:`InputError`.

    Args:
        path: the file.
        remedy: advice for a file in another encoding, for the message.
    """
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as stream:
                yield stream
        else:
            with path.open(encoding="utf-8-sig", newline="") as stream:
                yield stream
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", file=path) from None
    except UnicodeDecodeError as error:
        byte = f"byte {error.object[error.start]:#04x}"
        if error.object.startswith(GZIP):
            raise InputError(f"is a gzip file; rename it {path.name}.gz", file=path) from None
        if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            remedy = remedy.replace("cp1252", "utf-16")
        raise InputError(f"is not UTF-8 text ({byte}); {remedy}", file=path, line=_not_utf8(path)) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file ({error}); fetch it again", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", file=path) from None


def _not_utf8(path: Path) -> int | None:
    """The first line of a file that is not UTF-8."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of a JSON object; a duplicate key is a ``ValueError``."""
    row = dict(pairs)
    if len(row) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r:.80} is given twice")
    return row


parse_json = json.JSONDecoder(object_pairs_hook=_once).decode
"""Like :func:`json.loads`, but a duplicate key in an object is a ``ValueError``."""


def read_jsonl(path: Path, remedy: str = "save it as UTF-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, row)`` of a JSON Lines file; blank lines are skipped.

    Raises:
        InputError: a line is not a JSON object; names file and line.
    """
    with open_text(path, remedy=remedy) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = parse_json(line.rstrip("\r\n"))  # errors count columns within the line
            except (ValueError, RecursionError) as error:  # duplicate key, too many digits, too deep
                reason = str(error)
                if isinstance(error, json.JSONDecodeError):
                    reason = f"{error.msg.removesuffix(' at')} at column {error.colno}"
                raise InputError(
                    f"is not valid JSON ({reason}); expected one object per line", file=path, line=number
                ) from None
            if not isinstance(row, dict):
                kind = type(row).__name__
                remedy = "; a file of one list is named .json" if isinstance(row, list) else ""
                raise InputError(f"is a JSON {kind}, expected an object{remedy}", file=path, line=number)
            yield number, row


def load_json(path: Path, remedy: str = "") -> Any:
    """The value in a JSON file, plain or ``.gz``.

    Args:
        path: the file.
        remedy: advice for a file with a fault, for the message.

    Raises:
        InputError: if it cannot be read, or is not valid JSON; names the line.
    """
    with open_text(path) as stream:
        try:
            return json.load(stream)
        except json.JSONDecodeError as error:
            message = f"is not valid JSON ({error.msg} at column {error.colno}){remedy}"
            raise InputError(message, file=path, line=error.lineno) from None
        except (ValueError, RecursionError) as error:  # too many digits, too deep
            if isinstance(error, UnicodeDecodeError):
                raise  # open_text has the message for it
            raise InputError(f"is not valid JSON ({error}){remedy}", file=path) from None


def read_json(path: Path, remedy: str = "") -> dict[str, Any]:
    """The object in a JSON file, see :func:`load_json`; anything else is an :class:`InputError`."""
    found = load_json(path, remedy)
    if not isinstance(found, dict):
        raise InputError(f"is a JSON {type(found).__name__}, expected an object", file=path)
    return found


def read_whole(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; ``None`` if the file is missing, incomplete, or holds something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def dump(row: Mapping[str, Any]) -> str:
    """One row as one line of JSON, readable and the same on every run."""
    return json.dumps(row, ensure_ascii=False)


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """Write a text file next to ``path`` and rename it if the block succeeds; else leave no trace."""
    check_output(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise JudgeError(f"{path}: could not be written ({reason}); nothing was changed") from error
    finally:
        with suppress(OSError):  # never created, or already renamed
            temporary.unlink()


@contextmanager
def appearing(output: Path) -> Iterator[Path]:
    """A temporary folder that is renamed to ``output`` if the block succeeds, and else removed."""
    check_names(output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{output.name}.", dir=output.parent, ignore_cleanup_errors=True
        ) as scratch:
            folder = Path(scratch) / output.name
            folder.mkdir()
            yield folder
            folder.replace(output)
    except OSError as error:
        raise JudgeError(f"{output}: could not be written ({error.strerror or error})") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file, completely or not at all."""
    with replacing(path) as stream:
        stream.write(text)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, indented for people."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON Lines; returns their number."""
    count = 0
    with replacing(path) as stream:
        for count, row in enumerate(rows, start=1):  # noqa: B007 (the count is the result)
            stream.write(dump(row) + "\n")
    return count


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file without a half-written last one; empty if the file does not exist."""
    if path.exists():
        with path.open("rb") as stream:
            yield from (line for line in stream if line.endswith(b"\n"))


def whole_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file that an :class:`Appender` wrote; nothing if the file does not exist.

    Raises:
        InputError: if a line is not a JSON object.
        JudgeError: if the file cannot be read.
    """
    try:
        for number, line in enumerate(_whole_lines(path), start=1):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise InputError("is not valid JSON; the file was changed by hand", file=path, line=number)
            yield row
    except OSError as error:
        raise JudgeError(f"{path}: could not be read ({error.strerror})") from error


class Appender:
    """An append-only JSON Lines file that survives being killed.

    Opening an existing file drops a half-written last line. Every row is flushed as it is written, so a kill
    loses at most the row in flight.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = sum(map(len, _whole_lines(path)))
            self._stream = path.open("ab")
            self._stream.truncate(whole)
        except OSError as error:
            raise JudgeError(f"{path}: could not be opened for writing ({error.strerror})") from error

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """All rows of the file when this was first read; see :func:`whole_rows`."""
        return list(whole_rows(self.path))

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row and hand it to the operating system."""
        try:
            self._stream.write((dump(row) + "\n").encode())
            self._stream.flush()
        except OSError as error:
            with suppress(OSError):  # closing tries to write the rest again, and fails
                self._stream.close()
            raise JudgeError(
                f"{self.path}: could not be written ({error.strerror}); the rows before it are kept"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> "Appender":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sha256_file(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def sha256_text(text: str) -> str:
    """Hex digest of a text's UTF-8 bytes."""
    return sha256(text.encode()).hexdigest()
