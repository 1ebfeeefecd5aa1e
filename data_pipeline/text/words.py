"""Word tables: the plain text files under ``words/``, one entry per line; ``#`` starts a comment line."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "words"


@cache
def words(name: str) -> tuple[str, ...]:
    """The entries of ``words/{name}.txt``, in the order of the file."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def pairs(name: str) -> tuple[tuple[str, str], ...]:
    """The entries of a table whose lines read ``one / other``."""
    return tuple((one, other) for one, other in (line.split(" / ") for line in words(name)))


def characters(name: str) -> str:
    """The characters of a table whose lines are rows of single characters."""
    return "".join(words(name))


def either(name: str) -> str:
    """The entries as regular expression alternatives (``one|other``)."""
    return "|".join(words(name))
