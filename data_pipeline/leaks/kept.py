"""Indexes of benchmarks that are kept from one build to the next, as long as no file of theirs changes.

Example: eight benchmarks of 99,000 rows take twelve seconds to index, and less than one to load. The indexes
lie in the user's cache folder, under a hash of all that decides them: the files, byte for byte, and the code
that reads and indexes them. Whatever is wrong with what is kept, or with the folder, costs those seconds and
no more.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import judge
from data_pipeline.leaks.index import BenchmarkIndex
from judge import formats
from judge.errors import InputError, JudgeError
from judge.files import appearing, sha256_file
from judge.models.bundled import cache_folder

WORTH = 10_000
"""Rows from which on indexes are kept: fewer are read in a moment."""
MOST = 3
"""So many sets of indexes are kept, the ones used last."""
_ALL = "all"
"""The name of the file of the index without a name."""


def key_of(folder: Path | None, names: Iterable[str], more: Sequence[Path] = ()) -> str:
    """A hash of the benchmarks' files and of ``more`` of them, and of the code that makes indexes of them."""
    named = list(names) if folder is not None else []
    folder = folder or Path()
    digest = sha256(json.dumps([judge.__version__, named, [*map(str, more)]]).encode())
    packages = [Path(package).parent for package in (__file__, formats.__file__)]
    files = [path for package in packages for path in sorted(package.glob("*.py"))]
    files += [path for name in named for path in sorted((folder / name).rglob("*")) if path.is_file()]
    for path in [*files, *more]:
        place = path.relative_to(folder) if path.is_relative_to(folder) else path.name
        digest.update(f"{place} {sha256_file(path)}\n".encode())
    return digest.hexdigest()[:32]


def find(key: str) -> dict[str, BenchmarkIndex] | None:
    """The indexes under a key, by their names; ``None`` where they are not kept, or not whole."""
    folder = _folder() / key
    try:
        names = json.loads((folder / "names.json").read_text())
        found = {name: BenchmarkIndex.load(folder / f"{name or _ALL}.npz") for name in names}
        os.utime(folder)
    except (OSError, ValueError, InputError):
        return None
    return found


def keep(key: str, indexes: Mapping[str, BenchmarkIndex]) -> None:
    """Keep indexes under a key, if they are worth it and the cache folder can be written."""
    rows = sum(found["rows"] for index in indexes.values() for found in index.benchmarks.values())
    if rows < WORTH:
        return
    with suppress(JudgeError, OSError):
        shutil.rmtree(_folder() / key, ignore_errors=True)  # was not whole
        with appearing(_folder() / key) as folder:
            for name, index in indexes.items():
                index.save(folder / f"{name or _ALL}.npz")
            (folder / "names.json").write_text(json.dumps(list(indexes)))
        for old in sorted(_folder().iterdir(), key=lambda path: path.stat().st_mtime)[:-MOST]:
            shutil.rmtree(old, ignore_errors=True)


def _folder() -> Path:
    return cache_folder() / "leak-indexes"
