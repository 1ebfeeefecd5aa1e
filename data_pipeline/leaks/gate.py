"""The leak gate of a build: drops and lists samples that occur in a benchmark, and hashes the final files."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_pipeline.config import LeaksConfig
from data_pipeline.leaks.benchmarks import SHARED, available, built_sets
from data_pipeline.leaks.index import SETTINGS, BenchmarkIndex, Leak
from data_pipeline.sources.store import SampleStore, pair_of
from judge.errors import InputError
from judge.files import sha256_file
from judge.formats.files import DATA_DIR_ENV, resolve_data_dir
from judge.progress import track
from judge.types import Sample


class LeakGate:
    """Finds samples of a build that occur in benchmarks or in sets built for evaluation.

    Rows of a benchmark that the source of their set may contain (:mod:`judge.formats.shared`) are compared
    only with samples of other sources.

    Raises:
        InputError: the folder of benchmarks or a file in it is missing, a file is invalid, or there is none.
    """

    def __init__(self, config: LeaksConfig):
        folder = resolve_data_dir(Path(config.data_dir) if config.data_dir else None)
        if folder is None and not config.built:
            raise InputError(
                "the leak gate needs the benchmarks: name their folder in leaks.data_dir, or set "
                f"{DATA_DIR_ENV}; for documents that are in no benchmark omit it (leaks: null)"
            )
        self._most = config.max_dropped
        indexes, self.absent = _indexes(folder, config.built)
        self._index = indexes.pop("")
        self._shared = {name: index for name, index in indexes.items() if _rows(index.benchmarks)}
        if not self._shared and not _rows(self._index.benchmarks):
            raise InputError(
                "holds no row of a benchmark, and the leak gate would compare with nothing; name the folder "
                "that holds one folder for each benchmark, such as halubench and ragtruth",
                file=folder,
            )
        self.rows: list[dict[str, Any]] = []
        self._checked: Counter[str] = Counter()  # samples by their source
        self._entries: Counter[int] = Counter()  # and by the entry of the recipe
        self._lost: Counter[int] = Counter()

    def check(self, sample: Sample) -> Leak | None:
        """The row of a benchmark that a sample repeats, or ``None``."""
        found = self._index.check(sample)
        for name, index in self._shared.items():
            if found is None and not _comes_from(sample, name):
                found = index.check(sample)
        return found

    def drop_leaks(self, store: SampleStore, after: int = 0) -> None:
        """Drop every sample that leaks, with the other samples of its pair, and list them in ``rows``.

        Args:
            store: the samples to check.
            after: check only samples with a greater number.
        """
        new = ("number > ?", (after,))
        self._checked.update(store.counts("source", *new))
        self._entries.update(store.counts("entry", *new))
        count = store.count(*new)
        leaks = leaks_in(track(store.samples(*new), "leak gate", count), self.check)
        store.index("pair")
        for pair, leak in leaks.items():
            self.rows += [leak_row(sample, leak) for sample in store.samples("pair = ?", (pair,))]
            self._lost.update(store.counts("entry", "pair = ?", (pair,)))
            store.drop("pair = ?", (pair,))

    def by_source(self) -> dict[str, dict[str, Any]]:
        """For each source: the samples checked, the samples dropped, and their share."""
        dropped = Counter(row["source"] for row in self.rows)
        return {
            source: {"checked": count, "dropped": dropped[source], "share": round(dropped[source] / count, 4)}
            for source, count in sorted(self._checked.items())
        }

    def lines(self) -> Iterator[str]:
        """A line for each source that lost samples."""
        for source, row in self.by_source().items():
            if row["dropped"]:
                yield f"{source}: {row['dropped']:,} of {row['checked']:,} dropped ({row['share']:.1%})"

    def check_losses(self, names: Sequence[str], listed: Path) -> None:
        """Stop the build if a source lost too many samples.

        Args:
            names: the name of each source of the recipe in messages.
            listed: the file that lists the dropped samples.

        Raises:
            InputError: a source of the recipe lost more than ``leaks.max_dropped``.
        """
        for entry, lost in sorted(self._lost.items()):
            checked = self._entries[entry]
            if lost > self._most * checked:
                raise InputError(
                    f"{lost:,} of {checked:,} samples of {names[entry]} occur in benchmarks "
                    f"({lost / checked:.0%}), more than leaks.max_dropped={self._most} allows; "
                    f"{listed} lists them. Use another split of the set, omit it, or allow more",
                    field=f"sources.{entry}",
                )

    def record(self, folder: Path, files: Iterable[str]) -> dict[str, Any]:
        """For the manifest: the benchmarks compared, the samples dropped, and hashes of the final files."""
        return {
            "benchmarks": self._index.benchmarks,
            "not_at_hand": sorted(self.absent),
            "source_sides": {name: _rows(index.benchmarks) for name, index in self._shared.items()},
            "settings": SETTINGS,
            "dropped": len(self.rows),
            "by_source": self.by_source(),
            "data": {name: sha256_file(folder / name) for name in files},
        }


def leaks_in(samples: Iterable[Sample], check: Callable[[Sample], Leak | None]) -> dict[str, Leak]:
    """The pairs (``meta["pair"]``, or the id of a single sample) that leak, each with its first leak.

    Samples of a pair, and options of a question, count as one, even if they are not consecutive.
    """
    found: dict[str, Leak] = {}
    for sample in samples:
        pair = pair_of(sample)
        if pair not in found and (leak := check(sample)) is not None:
            found[pair] = leak
    return found


def leak_row(sample: Sample, leak: Leak) -> dict[str, Any]:
    """A row of ``leaks.jsonl``: the dropped sample and the benchmark's row that it repeats."""
    return {
        "id": sample.id,
        "source": sample.source,
        "group": sample.group,
        "benchmark": leak.benchmark,
        "row": leak.id,
        "kind": leak.kind,
        "similarity": leak.similarity,
    }


def _indexes(folder: Path | None, built: Sequence[str]) -> tuple[dict[str, BenchmarkIndex], list[str]]:
    """Indexes of benchmark rows that the source of a set may contain, by the set's name, and of all other
    rows under the empty name; and the names of benchmarks that are not available."""
    found, absent = available(folder)
    found |= built_sets(built)
    indexes = {name: BenchmarkIndex() for name in ("", *SHARED)}
    for benchmark, rows in found.items():
        for index in indexes.values():
            index.open(benchmark)
        for row in track(rows, f"index {benchmark}"):
            indexes[row.source].add(benchmark, row)  # KeyError for an unknown source: its rows would be lost
    return indexes, absent


def _comes_from(sample: Sample, name: str) -> bool:
    """Is a sample from this set? FIB's samples name its corpus too (``fib_xsum``)."""
    return sample.source == name or sample.source.startswith(f"{name}_")


def _rows(benchmarks: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    return {name: found["rows"] for name, found in benchmarks.items() if found["rows"]}
