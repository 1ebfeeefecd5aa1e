"""The leak gate of a build: drops and lists what occurs in a benchmark, and signs what was let through."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from data_pipeline.config import LeaksConfig
from data_pipeline.leaks import BENCHMARKS, BenchmarkIndex, Gate, at_hand
from data_pipeline.leaks.index import SETTINGS
from data_pipeline.store import SampleStore
from judge.errors import InputError
from judge.files import sha256_file
from judge.formats.files import DATA_DIR_ENV, resolve_data_dir


class LeakGate:
    """The benchmarks at hand, and what of a build's samples occurs in them.

    Raises:
        InputError: there is no folder of benchmarks, a name is not known, or a file is wrong.
    """

    def __init__(self, config: LeaksConfig):
        folder = resolve_data_dir(Path(config.data_dir) if config.data_dir else None)
        if folder is None:
            raise InputError(
                "the leak gate needs the benchmarks: name their folder in leaks.data_dir, "
                f"or set {DATA_DIR_ENV}"
            )
        found, self.absent = at_hand(folder, config.benchmarks or tuple(BENCHMARKS))
        self._index = BenchmarkIndex.build(found)
        self.rows: list[dict[str, Any]] = []

    def drop_leaks(self, store: SampleStore) -> None:
        """Drop every sample of a document that leaks, and list it in ``rows``."""
        leaks = Gate(store.samples, self._index).leaks
        store.index("document")
        for group, leak in leaks.items():
            found = {
                "benchmark": leak.benchmark,
                "row": leak.id,
                "kind": leak.kind,
                "similarity": leak.similarity,
            }
            self.rows += [
                {"id": sample.id, "source": sample.source, "group": group, **found}
                for sample in store.samples("document = ?", (group,))
            ]
            store.drop("document = ?", (group,))

    def record(self, folder: Path, files: Iterable[str]) -> dict[str, Any]:
        """For the manifest: compared with what, how much was dropped, which files were let through."""
        return {
            "benchmarks": self._index.benchmarks,
            "not_at_hand": sorted(self.absent),
            "settings": SETTINGS,
            "dropped": len(self.rows),
            "dropped_by_source": dict(sorted(Counter(row["source"] for row in self.rows).items())),
            "data": {name: sha256_file(folder / name) for name in files},
        }
