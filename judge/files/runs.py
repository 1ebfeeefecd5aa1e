"""Guards the output of a long run: one process writes at a time, and only the same run may resume it."""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError
from judge.types import lone_surrogate

_held: set[int] = set()


def _forget() -> None:
    """Drop the locks in a forked process: a child that outlives its parent must not keep them."""
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_forget)


def is_stream(path: Path) -> bool:
    """Is it standard input or output (``-``), a pipe or a device, which can be read or written only once?"""
    try:
        return path == Path("-") or path.is_fifo() or path.is_char_device()
    except OSError:  # not a possible file name
        return False


def check_names(*paths: Path | str | None) -> None:
    """Refuse names that are not UTF-8, which neither reports nor other libraries can hold."""
    for path in paths:
        if lone_surrogate(str(path)):
            raise InputError("the name is not UTF-8; give another", file=path)


def check_output(path: Path) -> None:
    """Refuse a folder, or a stream, which cannot be resumed or replaced, as a file of results."""
    if path.is_dir():
        raise InputError("is a folder; name a file in it", file=path)
    if is_stream(path):
        raise InputError("is not a regular file, as results need to be; name a file", file=path)


@contextmanager
def locked(output: Path, *, folder: bool = False) -> Iterator[None]:
    """Keep other runs from writing to a file or folder during the block.

    Creates it if needed, and removes it again if nothing was written. The lock is the operating system's and
    ends with the process, however that ends; on file systems without locks there is none.

    Raises:
        InputError: if another run is writing to it, or it is a folder instead of a file or vice versa.
        JudgeError: if it could not be created.
    """
    if not folder:
        check_output(output)
    elif is_stream(output) or (output.exists() and not output.is_dir()):
        raise InputError("is a file or a stream, expected a folder", file=output)
    made = [path for path in (output, *output.parents) if not path.exists()]
    try:
        (output if folder else output.parent).mkdir(parents=True, exist_ok=True)
        handle = os.open(output, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise JudgeError(f"{output}: could not be opened for writing ({error.strerror})") from error
    _held.add(handle)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(handle), output.stat()):
                raise BlockingIOError  # another run has just created, failed and removed it
        except BlockingIOError:
            made = []
            raise InputError(
                "another run is writing here; wait until it ends, or give another output", file=output
            ) from None
        except OSError:  # some network file systems have no locks
            pass
        yield
    finally:
        with suppress(OSError):  # something was written
            for path in made:
                if path.is_dir():
                    path.rmdir()
                elif path.stat().st_size == 0:
                    path.unlink()
        _held.discard(handle)
        os.close(handle)


CONTENTS = {
    "samples": "documents, questions or answers of the samples",
    "kinds": "tasks, languages or sources of the samples",
    "weights": "weights of the model",
    "start": "the starting model",
    "prompt_hash": "wording of the prompt",
    "calibration": "calibration of the judge",
}
"""Words for contents that a run's description gives only as a hash or a curve."""
_HASH = re.compile("[0-9a-f]{12,64}")


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Where two JSON values differ: ``key.key was 1, is 2``; for hashed contents only that they changed."""
    if old == new:
        return []
    name = path.rpartition(".")[2]
    if name == "calibration" or any(isinstance(one, str) and _HASH.fullmatch(one) for one in (old, new)):
        return [f"{CONTENTS.get(name, path)} changed"]
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            line
            for key in dict.fromkeys([*old, *new])
            for line in differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        ]
    was, now = ("not set" if one is None else json.dumps(one, ensure_ascii=False) for one in (old, new))
    return [f"{path or 'run.json'} was {was:.80}, is {now:.80}"]
