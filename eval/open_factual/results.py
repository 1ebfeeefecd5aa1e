"""Results of open-factual-bench as they lie in folders, and what several of them say together.

A run answers 40 tasks or a part of them. Runs on the same tasks, with the same passages, can be compared task
by task: how far they agree, and which tasks are hard for all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from eval.open_factual.summary import scores_of
from eval.open_factual.tasks import BENCHMARK
from eval.verdicts import REPORT, VERDICTS
from judge.errors import InputError
from judge.files import read_jsonl
from judge.formats.records import read_object

Difficulty = Literal["easy", "mixed", "hard"]
"""All of the other runs are right about a task, some of them, none."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One run: ``report.json``, and its answers in the order of the tasks, if its folder holds them."""

    name: str
    folder: Path
    report: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def scores(self) -> list[str]:
        """The scores that its answers have."""
        return list(self.report["overall"] or ())

    @property
    def hardware(self) -> str:
        """What the user calls the machine, or what it calls itself."""
        found = self.report["hardware"]
        return str(found.get("label") or found.get("device") or "")

    def labels(self) -> dict[str, str | None]:
        """Task to the label of the benchmark's own score."""
        return {row["id"]: row["labels"]["strict"] for row in self.rows}


def result_folders(folder: Path) -> list[Path]:
    """Where results of this benchmark lie: the folder itself, or the one that ``judge eval`` made in it."""
    return [place for place in (folder, folder / BENCHMARK) if _report(place) is not None]


def read_results(folders: Sequence[Path]) -> list[Answered]:
    """The runs that lie in some folders; runs of one name are told apart by mode, then by folder.

    Raises:
        InputError: answers are not those of their report.
    """
    found = []
    for folder in dict.fromkeys(place for given in folders for place in result_folders(given)):
        report = _report(folder)
        if report is not None and report["overall"] is not None:
            found.append(Answered(str(report["name"]), folder, report, _rows(folder, report)))
    for more in (lambda run: run.report["mode"], lambda run: run.folder.name, lambda run: str(run.folder)):
        times = [run.name for run in found]
        found = [
            run
            if times.count(run.name) == 1
            else Answered(f"{run.report['name']} ({more(run)})", run.folder, run.report, run.rows)
            for run in found
        ]
    return found


def comparable(runs: Sequence[Answered]) -> list[list[Answered]]:
    """The runs that answered the same tasks from the same passages, at least two together."""
    groups: dict[str, list[Answered]] = {}
    for run in runs:
        if run.rows:
            groups.setdefault(run.report["data_hash"], []).append(run)
    return [group for group in groups.values() if len(group) > 1]


def agreement(runs: Sequence[Answered]) -> tuple[float, float | None]:
    """Share of tasks that all runs label alike (right, wrong, refused, ...), and Cohen's kappa over them.

    Of more than two runs kappa is the mean of all pairs that it exists for, and ``None`` without any.
    """
    from sklearn.metrics import cohen_kappa_score

    said = [list(map(str, run.labels().values())) for run in runs]
    ratings = list(zip(*said, strict=True))
    same = sum(len(set(labels)) == 1 for labels in ratings) / len(ratings)
    pairs = [(one, two) for one, two in combinations(said, 2) if len({*one, *two}) > 1]
    kappas = [float(cohen_kappa_score(one, two)) for one, two in pairs]
    return same, mean(kappas) if kappas else None


def by_difficulty(run: Answered, others: Sequence[Answered]) -> dict[Difficulty, tuple[int, int]]:
    """Right answers and graded tasks, by how many of the other runs are right: a run does not rate itself."""
    found: dict[Difficulty, tuple[int, int]] = {"easy": (0, 0), "mixed": (0, 0), "hard": (0, 0)}
    theirs = [other.labels() for other in others]
    for task, label in run.labels().items():
        if label not in ("correct", "incorrect"):
            continue
        right = sum(labels[task] == "correct" for labels in theirs)
        level: Difficulty = "hard" if right == 0 else "easy" if right == len(theirs) else "mixed"
        hits, n = found[level]
        found[level] = hits + (label == "correct"), n + 1
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


def _rows(folder: Path, report: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    path = folder / VERDICTS
    if not path.exists():
        return ()
    rows = tuple(row for _, row in read_jsonl(path))
    if len(rows) != report["counts"]["answered"] or scores_of(rows) != list(report["overall"]):
        raise InputError("does not hold the answers of its report; answer again with --overwrite", file=path)
    return rows
