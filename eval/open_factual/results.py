"""Reads results of open-factual-bench from folders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.open_factual.tasks import BENCHMARK
from eval.report import distinct_names, todays_names
from eval.verdicts import REPORT
from judge.errors import InputError
from judge.files import read_json

TABLE = "report.md"


@dataclass(frozen=True, slots=True)
class Answered:
    """One run: its ``report.json``, and a unique name."""

    name: str
    report: Mapping[str, Any]

    @property
    def scores(self) -> list[str]:
        """The scores that its answers have; empty if nothing was answered."""
        return list(self.report["overall"] or ())

    @property
    def hardware(self) -> str:
        """The user's name for the machine, or the name of its device."""
        found = self.report["hardware"]
        return str(found.get("label") or found.get("device") or "")


def result_folders(folder: Path) -> list[Path]:
    """The folders with a result of this benchmark: ``folder`` itself, or the one that ``judge eval`` adds."""
    return [place for place in (folder, folder / BENCHMARK) if _report(place) is not None]


def read_results(folders: Sequence[Path]) -> list[Answered]:
    """The runs in some folders; runs of the same name are distinguished by mode, then by folder."""
    places = dict.fromkeys(place for given in folders for place in result_folders(given))
    found = [(place, report) for place in places if (report := _report(place)) and report["overall"]]
    names = distinct_names([(report["name"], report["mode"], place) for place, report in found])
    return [Answered(name, report) for name, (_, report) in zip(names, found, strict=True)]


def _report(folder: Path) -> Mapping[str, Any] | None:
    """The report of this benchmark in a folder; ``None`` if there is none, or one of another benchmark."""
    if not (folder / REPORT).is_file():
        return None
    try:
        found = todays_names(read_json(folder / REPORT)["reports"][0])
        return found if found["benchmark"] == BENCHMARK else None
    except (InputError, KeyError, IndexError, TypeError):
        return None  # the reader of judges' results reports what is wrong with it
