"""Results of open-factual-bench as they lie in folders."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.open_factual.tasks import BENCHMARK
from eval.verdicts import REPORT
from judge.errors import InputError
from judge.formats.records import read_object

TABLE = "report.md"


@dataclass(frozen=True, slots=True)
class Answered:
    """One run: its ``report.json``, and a name that tells it from the others."""

    name: str
    folder: Path
    report: Mapping[str, Any]

    @property
    def scores(self) -> list[str]:
        """The scores that its answers have; none where nothing was answered."""
        return list(self.report["overall"] or ())

    @property
    def hardware(self) -> str:
        """What the user calls the machine, or what it calls itself."""
        found = self.report["hardware"]
        return str(found.get("label") or found.get("device") or "")


def result_folders(folder: Path) -> list[Path]:
    """Where results of this benchmark lie: the folder itself, or the one that ``judge eval`` made in it."""
    return [place for place in (folder, folder / BENCHMARK) if _report(place) is not None]


def read_results(folders: Sequence[Path]) -> list[Answered]:
    """The runs that lie in some folders; runs of one name are told apart by mode, then by folder."""
    places = dict.fromkeys(place for given in folders for place in result_folders(given))
    reports = {place: report for place in places if (report := _report(place)) and report["overall"]}
    found = [Answered(str(report["name"]), place, report) for place, report in reports.items()]
    for more in (lambda run: run.report["mode"], lambda run: run.folder.name, lambda run: str(run.folder)):
        times = Counter(run.name for run in found)
        found = [
            run if times[run.name] == 1 else replace(run, name=f"{run.report['name']} ({more(run)})")
            for run in found
        ]
    return found


def _report(folder: Path) -> Mapping[str, Any] | None:
    """The report of this benchmark in a folder; ``None`` where there is none, or another one."""
    if not (folder / REPORT).is_file():
        return None
    try:
        found: Mapping[str, Any] = read_object(folder / REPORT).values["reports"][0]
        return found if found["benchmark"] == BENCHMARK else None
    except (InputError, KeyError, IndexError, TypeError):
        return None  # what reads results of judges says what is wrong with it
