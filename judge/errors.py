"""Errors that a user can act on. The command line prints them as one line, without a traceback.

JudgeError          the work failed (exit code 1)
└── InputError      the call, a config or an input file is wrong (exit code 2)
"""

import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec


class JudgeError(Exception):
    """The work failed; the message says what happened and what to do."""

    exit_code = 1


class InputError(JudgeError):
    """The call, a config or an input file is wrong.

    Args:
        message: what was found and what to do.
        file: the file at fault, with ``line`` (from 1) and ``field`` if known.

    Attributes:
        found: the message as given, without the place.
        field: as given.
    """

    exit_code = 2

    def __init__(
        self, message: str, *, file: object = None, line: int | None = None, field: str | None = None
    ):
        self.found, self.field = message, field  # not "message": Inspect shows that instead of the whole
        where = "" if file is None else f"{file}:{line}" if line is not None else f"{file}"
        parts = [where, f"field {field!r}" if field is not None else "", message]
        super().__init__(": ".join(part for part in parts if part))


DATA = ("faker", "lemminflect", "opencc", "rjieba")
"""Packages of the extra ``data`` that every data set build needs."""


def require(what: str, extra: str, *packages: str) -> None:
    """Check that packages are installed before starting work that needs them.

    Args:
        what: what needs them, for the message.
        extra: the extra of this project that installs them.
        packages: their import names.

    Raises:
        InputError: if any are missing; names them and the command that installs them.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InputError(f'{what} needs {", ".join(missing)}; pip install "hallucination-judge[{extra}]"')


class JudgeWarning(UserWarning):
    """The work continues, but perhaps not as the user expects; the command line prints it as one line."""


def warn(message: str) -> None:
    """Issue a :class:`JudgeWarning`, attributed to the caller's caller."""
    warnings.warn(message, JudgeWarning, stacklevel=3)


def unknown(kind: str, name: object, known: Iterable[object]) -> str:
    """A message for an unknown name, with the nearest match and all known names."""
    names = sorted(str(item) for item in known)
    near = get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    known = f" (known: {', '.join(names)})" if names else "; there are none"
    return f"unknown {kind} {str(name)!r:.80}{hint}{known}"


def brief(error: BaseException, longest: int = 160) -> str:
    """What a library's error says, on one line, cut after ``longest`` characters; its kind if nothing."""
    return f"{' '.join(str(error).split()) or type(error).__name__:.{longest}}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 verdict``, ``2 verdicts``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
