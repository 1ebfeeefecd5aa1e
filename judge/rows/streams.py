"""Turns streams and files in other encodings into UTF-8 files that can be read more than once."""

import codecs
import gzip
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from judge.errors import InputError, JudgeError
from judge.files import GZIP, is_stream
from judge.rows.kinds import file_type


@contextmanager
def as_file(path: Path, encoding: str | None = None) -> Iterator[Path]:
    """A UTF-8 file that can be read more than once: the given one, or a temporary copy.

    Args:
        path: a file, a pipe, or ``-`` for standard input; a stream's file type is found from its first bytes.
        encoding: the encoding of the text, if not UTF-8.

    Raises:
        InputError: if standard input is a terminal, or the text is not in that encoding. Errors about a copy
            name the original.
    """
    stream = is_stream(path)
    if not stream and encoding is None:
        yield path
        return
    name = "standard input" if path == Path("-") else str(path)
    with TemporaryDirectory(prefix="judge-") as made:
        folder = Path(made)
        try:
            copy = _saved(path, name, folder, encoding) if stream else path
            yield _recoded(copy, folder, encoding) if encoding is not None else copy
        except JudgeError as error:
            message = str(error)
            for file in folder.iterdir():
                message = message.replace(str(file), name)
            raise type(error)(message) from None


def _saved(stream: Path, name: str, folder: Path, encoding: str | None) -> Path:
    """Copy a stream to a file whose suffix matches its type."""
    copy = folder / Path(name).name  # warnings name the file
    if stream == Path("-") and sys.stdin is None:
        raise InputError(f"{name} is closed; pipe samples into it, or give a file")
    try:
        with (
            sys.stdin.buffer if stream == Path("-") else stream.open("rb") as source,
            copy.open("wb") as file,
        ):
            if source.isatty():
                raise InputError(f"{name} is a terminal; pipe samples into it, or give a file")
            shutil.copyfileobj(source, file)
        return copy.rename(copy.with_name(copy.name + _type_of(copy, encoding or "utf-8")))
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(error, name) from None


def _unreadable(error: Exception, file: object) -> InputError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return InputError(f"cannot be read ({reason})", file=file)


def _type_of(file: Path, encoding: str) -> str:
    """The type of a file by its first bytes, or by those of its content if it is gzip."""
    with file.open("rb") as stream:
        begins = stream.read(4096)
    packed = ""
    if begins.startswith(GZIP):
        packed = ".gz"
        with gzip.open(file) as unpacked:
            begins = unpacked.read(4096)
    for mark, kind in ((b"PAR1", ".parquet"), (b"PK", ".xlsx")):
        if begins.startswith(mark):
            return kind + packed
    text = begins.decode(_known(encoding), errors="replace").lstrip("\ufeff \t\r\n")
    kind = ".json" if text.startswith("[") else ".jsonl" if text.startswith("{") else ".csv"
    return kind + packed


def _known(encoding: str) -> str:
    """The encoding, if it is a text encoding; else raises ``InputError``."""
    try:
        "".encode(encoding)
    except LookupError:
        raise InputError(
            f"{encoding!r} is not an encoding of texts, such as cp1252", field="--encoding"
        ) from None
    return encoding


def _recoded(path: Path, folder: Path, encoding: str) -> Path:
    """A copy of a text file in UTF-8."""
    if file_type(path) in (".parquet", ".xlsx"):
        raise InputError("is not a text, and has no encoding; omit --encoding", file=path)
    copy = folder / f"utf-8-{path.name.removesuffix('.gz')}"
    opened = gzip.open if path.suffix == ".gz" else open
    plain = codecs.lookup(_known(encoding)).name.startswith("utf-8")
    try:
        with opened(path, "rb") as begins:
            if begins.read(3) == codecs.BOM_UTF8 and not plain:
                raise InputError("is UTF-8 (it begins with its mark); omit --encoding", file=path)
        with (
            opened(path, "rt", encoding=encoding, newline="") as text,
            copy.open("w", encoding="utf-8", newline="") as file,
        ):
            shutil.copyfileobj(text, file)
    except UnicodeError as error:
        raise InputError(f"is not {encoding} text ({error}); give another --encoding", file=path) from None
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(error, path) from None
    return copy
