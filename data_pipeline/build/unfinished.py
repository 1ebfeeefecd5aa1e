"""Builds a data set next to the earlier one and then replaces all of it; a failed build changes nothing.

Example: ``with in_place_of(Path("runs/data")) as made: write_text(made / "card.md", text)``.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judge.errors import JudgeError

NAME = "unfinished-build"
"""The folder in which a build works; it is inside that of the data set, and so on the same disk."""
EARLIER = "earlier"
"""Subfolder for the files of the earlier set while they are replaced."""
SOMETIMES = ("audit.md", "audit.html", "audit.json", "bianbench")
"""Files that not every recipe or version writes; left over from an earlier set, they would look current."""
MANIFEST = "manifest.json"


@contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to build in; if the block succeeds, its files replace those of an earlier set.

    After an error they stay there for inspection until the next build. Other files in ``folder`` are left
    alone.

    Raises:
        JudgeError: if the folder cannot be made or the files cannot be moved; the earlier set is unchanged.
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
        with suppress(OSError):  # removes it if the build failed before it wrote anything
            made.rmdir()


def _swap(made: Path, folder: Path) -> None:
    """Swap old files for new. The manifest goes out first and in last: a folder without one is unfinished."""
    new = sorted((path.relative_to(made) for path in files_at(made)), key=lambda name: name.name == MANIFEST)
    gone = [path.relative_to(folder) for name in SOMETIMES for path in files_at(folder / name)]
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


def files_at(path: Path) -> list[Path]:
    """The file at this path, or all files below the folder at this path."""
    if path.is_file():
        return [path]
    return [one for one in path.rglob("*") if one.is_file()]
