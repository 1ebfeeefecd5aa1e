"""A data set is made next to the finished one and replaces it as a whole; a failing build changes nothing.

Example: ``with in_place_of(Path("runs/data")) as made: write_text(made / "card.md", text)``.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judge.errors import JudgeError

NAME = "unfinished-build"
"""The folder, in that of the data set and so on the same disk, in which a build works."""
EARLIER = "earlier"
"""Where in it the files of the earlier set lie while they are replaced."""
SOMETIMES = ("audit.md", "audit.html", "audit.json", "bianbench")
"""What not every recipe asks for, or an earlier version wrote: it would seem to be of this set."""
MANIFEST = "manifest.json"


@contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Give an empty folder to build in; when the block ends well, its files replace those of an earlier set.

    After an error they stay where they are, to be looked at, until the next build. Other files of the folder
    are left alone.

    Raises:
        JudgeError: the folder could not be made, or the files not be moved; the earlier set is as it was.
    """
    made = folder / NAME
    try:
        if made.exists():
            shutil.rmtree(made)
        made.mkdir(parents=True)
    except OSError as error:
        raise JudgeError(f"{made}: could not be made ({error.strerror or error})") from error
    try:
        yield made
        _swap(made, folder)
        shutil.rmtree(made, ignore_errors=True)
    finally:
        with suppress(OSError):  # of a build that failed before it wrote anything nothing is to be seen
            made.rmdir()


def _swap(made: Path, folder: Path) -> None:
    """Move old files out and new ones in, the manifest first and last: a folder without is unfinished."""
    new = sorted((path.relative_to(made) for path in _files(made)), key=lambda name: name.name == MANIFEST)
    gone = [path.relative_to(folder) for name in SOMETIMES for path in _files(folder / name)]
    old = [name for name in dict.fromkeys([*reversed(new), *gone]) if (folder / name).is_file()]
    moves = [(folder / name, made / EARLIER / name) for name in old]
    moves += [(made / name, folder / name) for name in new]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)
            done.append((source, target))
    except BaseException as error:  # an interrupt too
        for source, target in reversed(done):
            target.replace(source)
        if not isinstance(error, OSError):
            raise
        reason = error.strerror or error
        raise JudgeError(
            f"{folder}: the new data set could not take its place ({reason}); it is in {made}"
        ) from error


def _files(path: Path) -> list[Path]:
    """The file of this name, or all those below the folder of this name."""
    if path.is_file():
        return [path]
    return [one for one in path.rglob("*") if one.is_file()]
