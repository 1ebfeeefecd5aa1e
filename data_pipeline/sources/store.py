"""The samples of a running build, in a table on disk, so that memory does not grow with their number.

A build reads its samples many times: to split them by document, to draw strata, to write rows. They are kept
in an SQLite file during the build, in the order in which they were added.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any

from data_pipeline.sources.kinds import kind_of
from data_pipeline.sources.licences import licence_of
from judge.errors import InputError, JudgeError
from judge.files import dump
from judge.models.trained_on import fingerprint
from judge.samples import row_from_sample, sample_from_row
from judge.types import Mode, Sample

_TABLES = """
CREATE TABLE samples (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- never again that of a sample that was dropped
    id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL,   -- the group: document or seed item
    text BLOB NOT NULL,       -- hash of the document's letters and digits
    pair TEXT NOT NULL,       -- what the samples of a pair have in common
    source TEXT NOT NULL, task TEXT NOT NULL, language TEXT NOT NULL, domain TEXT NOT NULL,
    licence TEXT NOT NULL,
    label TEXT, kind TEXT, edit_type TEXT, from_document INTEGER,
    split TEXT,
    entry INTEGER,            -- place in the recipe of the source
    verdict INTEGER NOT NULL DEFAULT 0,  -- is there to be a row in this mode?
    reason INTEGER NOT NULL DEFAULT 0,
    excluded INTEGER NOT NULL DEFAULT 0,  -- no row is made of it, in whatever mode
    row TEXT NOT NULL
);
CREATE TABLE reasonings (
    sample TEXT NOT NULL, right INTEGER NOT NULL, teacher TEXT NOT NULL, reasoning TEXT NOT NULL
);
CREATE INDEX by_sample ON reasonings (sample)
"""


def rank(seed: str, name: str) -> str:
    """A sort key for a seeded random order; it depends only on seed and name, and not on the machine."""
    return sha256(f"{seed}\0{name}".encode()).hexdigest()


def pair_of(sample: Sample) -> str:
    """A name of a sample's pair that no other source has; for a single sample its id.

    Tables hold null or NaN for no pair.
    """
    pair = sample.meta.get("pair")
    return sample.id if pair in (None, "") or pair != pair else f"{sample.source}\n{pair}"


class DuplicateId(InputError):
    """An id occurs twice; ``places`` are the files and lines with it, as far as known."""

    def __init__(self, name: str, places: Sequence[str] = ()):
        self.id = name
        where = f" ({', '.join(places)})" if places else ""
        super().__init__(
            f"id {name!r} occurs twice, in one source or in two{where}; ids name samples across a data set: "
            "give one of the rows another"
        )


class SampleStore:
    """The samples of a build. A context manager; the file is removed when it closes.

    Args:
        path: the file of the table. One left over from a failed build is replaced.

    Raises:
        JudgeError: the file cannot be written; on exit also for any SQLite error in the block, such as a full
            disk.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            self.table = sqlite3.connect(path)
            # The file is removed after the build, so it need not survive a crash.
            self.table.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
        except (OSError, sqlite3.Error) as error:
            raise self._failure(error) from error
        self.table.create_function("rank", 2, rank, deterministic=True)

    @classmethod
    def reader(cls, path: Path) -> "SampleStore":
        """A read-only store of the samples that another process has committed; ``path`` is absolute."""
        store = cls.__new__(cls)
        store.path = path
        store.table = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        store.table.create_function("rank", 2, rank, deterministic=True)
        return store

    def commit(self) -> None:
        """Let readers see the samples added so far."""
        self.table.commit()

    def __enter__(self) -> "SampleStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.table.close()
        self.path.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise self._failure(error) from error

    def add(self, samples: Iterable[Sample], entry: int | None = None) -> None:
        """Append samples.

        Args:
            samples: the samples, in order.
            entry: the index of their source in the recipe.

        Raises:
            InputError: an id occurs twice.
        """
        current: list[Sample] = []

        def values() -> Iterator[tuple[Any, ...]]:
            for sample in samples:
                current[:] = [sample]
                edit_type, from_document = (sample.meta.get(key) for key in ("edit_type", "from_document"))
                yield (
                    sample.id, sample.group, fingerprint(sample.document_text), pair_of(sample),
                    sample.source, sample.task.value,
                    sample.language, str(sample.meta.get("domain", "")), licence_of(sample),
                    None if sample.label is None else sample.label.value,
                    kind_of(sample),
                    None if edit_type is None else str(edit_type),
                    None if from_document is None else bool(from_document),
                    entry, dump(row_from_sample(sample)),
                )  # fmt: skip

        columns = "id, document, text, pair, source, task, language, domain, licence"
        columns += ", label, kind, edit_type, from_document, entry, row"
        try:
            self.table.executemany(
                f"INSERT INTO samples ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                values(),
            )
        except sqlite3.IntegrityError:
            raise DuplicateId(current[0].id) from None

    def samples(
        self, where: str = "TRUE", values: tuple[Any, ...] = (), order: str = "number"
    ) -> Iterator[Sample]:
        """Samples that satisfy a condition, in order, with their split in ``meta["split"]``."""
        query = f"SELECT row, split FROM samples WHERE {where} ORDER BY {order}"  # noqa: S608 (our own conditions)
        for text, split in self.table.execute(query, values):
            row = json.loads(text)
            if split is not None:
                row["meta"] = {**row.get("meta", {}), "split": split}
            yield sample_from_row(row)

    def wants(self, sample: Sample, mode: Mode) -> bool:
        """Should this sample get a row in a mode?"""
        return bool(self._one(f"SELECT {mode} FROM samples WHERE id = ?", (sample.id,)))  # noqa: S608

    def add_reasoning(self, sample: Sample, teacher: str, reasoning: str, *, right: bool) -> None:
        """Note a teacher's reasoning that leads to the gold label, or to the wrong one."""
        values = (sample.id, right, teacher, reasoning)
        self.table.execute("INSERT INTO reasonings VALUES (?, ?, ?, ?)", values)

    def put(self, sample: Sample, lost: str) -> None:
        """Replace the sample with the id ``lost``; the new one gets its entry, split and modes."""
        columns = "entry, split, verdict, reason"
        query = f"SELECT {columns} FROM samples WHERE id = ?"  # noqa: S608 (our own columns)
        entry, *rest = self.table.execute(query, (lost,)).fetchone()
        self.drop("id = ?", (lost,))
        self.add([sample], entry)
        self.table.execute(
            "UPDATE samples SET split = ?, verdict = ?, reason = ? WHERE id = ?", (*rest, sample.id)
        )

    def exclude(self, sample: Sample) -> None:
        """Make no rows from a sample; it stays in the table."""
        self.table.execute("UPDATE samples SET excluded = 1 WHERE id = ?", (sample.id,))

    def reasonings(self, sample: Sample, *, right: bool) -> list[tuple[str, str]]:
        """Teachers and their reasonings, in the order in which they were added."""
        query = "SELECT teacher, reasoning FROM reasonings WHERE sample = ? AND right = ? ORDER BY rowid"
        return self.table.execute(query, (sample.id, right)).fetchall()

    def draw(self, where: str, values: tuple[Any, ...], seed: str, count: int) -> Iterator[Sample]:
        """A seeded choice of at most ``count`` samples that satisfy a condition, in order."""
        chosen = f"SELECT number FROM samples WHERE {where} ORDER BY rank(?, id) LIMIT ?"  # noqa: S608
        return self.samples(f"number IN ({chosen})", (*values, seed, count))

    def index(self, *columns: str) -> None:
        """Make conditions on these columns fast."""
        name = "by_" + "_".join(columns)
        self.table.execute(f"CREATE INDEX IF NOT EXISTS {name} ON samples ({', '.join(columns)})")

    def drop_index(self, *columns: str) -> None:
        """Undo :meth:`index`."""
        self.table.execute(f"DROP INDEX by_{'_'.join(columns)}")

    def ids(self, where: str, values: tuple[Any, ...] = ()) -> Iterator[str]:
        """Ids of the samples that satisfy a condition, in order."""
        query = f"SELECT id FROM samples WHERE {where} ORDER BY number"  # noqa: S608
        return (name for (name,) in self.table.execute(query, values))

    def count(self, where: str = "TRUE", values: tuple[Any, ...] = ()) -> int:
        """The number of samples that satisfy a condition."""
        return int(self._one(f"SELECT COUNT(*) FROM samples WHERE {where}", values))  # noqa: S608

    def counts(self, column: str, where: str = "TRUE", values: tuple[Any, ...] = ()) -> dict[Any, int]:
        """The number of samples that satisfy a condition, by the value of a column; NULL is left out."""
        known = f"FROM samples WHERE {column} IS NOT NULL AND {where}"
        query = f"SELECT {column}, COUNT(*) {known} GROUP BY {column} ORDER BY {column}"
        return dict(self.table.execute(query, values))

    def last(self) -> int:
        """The number of the last sample; 0 if there are none."""
        return int(self._one("SELECT COALESCE(MAX(number), 0) FROM samples"))

    def documents(self) -> int:
        """How many documents the samples are about."""
        return int(self._one("SELECT COUNT(DISTINCT document) FROM samples"))

    def splits(self) -> Iterator[tuple[str, str]]:
        """Every document and its split."""
        return iter(self.table.execute("SELECT DISTINCT document, split FROM samples ORDER BY document"))

    def pairs(self, split: str) -> int:
        """The number of pairs and single samples in a split."""
        return int(self._one("SELECT COUNT(DISTINCT pair) FROM samples WHERE split = ?", (split,)))

    def drop(self, where: str, values: tuple[Any, ...] = ()) -> None:
        """Remove the samples that satisfy a condition."""
        self.table.execute(f"DELETE FROM samples WHERE {where}", values)  # noqa: S608

    def _failure(self, error: Exception) -> JudgeError:
        return JudgeError(f"{self.path}: the table of the build failed ({error}); nothing is kept of it")

    def _one(self, query: str, values: tuple[Any, ...] = ()) -> Any:
        return self.table.execute(query, values).fetchone()[0]
