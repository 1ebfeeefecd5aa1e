"""Reads result folders, and groups the runs by the samples that were judged."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.report import Report, distinct_names, read_reports
from eval.verdicts import VERDICTS, first_run
from judge.errors import InputError
from judge.progress import track
from judge.types import Label, Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with what was judged; ``document`` is only its start, ``document_chars`` its full length.

    Texts are empty if an older result does not hold them.
    """

    id: str
    group: str
    source: str
    edit_type: str
    question: str
    answer: str
    document: str
    document_chars: int
    gold: Label
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Run:
    """One judge on one set of samples.

    ``name`` is unique within the set. ``judged`` is in the order of the set, from the first of repeated runs,
    and empty if the folder holds no verdicts (a registry keeps only reports).
    """

    name: str
    folder: Path
    report: Report
    judged: tuple[Judged, ...]


@dataclass(frozen=True)
class SampleSet:
    """The samples that some runs have in common, and those runs."""

    name: str
    runs: tuple[Run, ...]

    @property
    def report(self) -> Report:
        """One of the reports, for what is the same in all: benchmark, title, baselines, counts of classes."""
        return self.runs[0].report

    @cached_property
    def samples(self) -> tuple[Judged, ...]:
        """The samples, with the verdicts of the first run that has any; empty if none has."""
        return next((run.judged for run in self.runs if run.judged), ())


def read_sets(folders: Sequence[Path]) -> list[SampleSet]:
    """Read result folders of ``judge eval``.

    Returns:
        The sets of samples in order of first occurrence, each with its runs in the order of the folders.

    Raises:
        InputError: if a folder holds no finished result, or its verdicts do not match its report.
    """
    given = dict.fromkeys(folders)
    runs = [run for folder in track(given, "read results", len(given)) for run in _read(folder)]
    if not runs:
        raise InputError("no result to report on; give folders that `judge eval --out` wrote")
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.report.benchmark, run.report.data_hash), []).append(run)
    times = Counter(benchmark for benchmark, _ in groups)
    return [
        SampleSet(
            name=benchmark
            if times[benchmark] == 1
            else f"{benchmark} ({found[0].report.counts['n']:,}, {data[:6]})",
            runs=tuple(
                map(_named, found, distinct_names([(x.name, x.report.mode, x.folder) for x in found]))
            ),
        )
        for (benchmark, data), found in groups.items()
    ]


def _named(run: Run, name: str) -> Run:
    return replace(run, name=name)


def _read(folder: Path) -> list[Run]:
    reports = read_reports(folder)
    rows: dict[str, list[Judged]] = {}
    for row, verdict in first_run(folder):
        rows.setdefault(row["benchmark"], []).append(_judged(row, verdict))
    path = folder / VERDICTS
    if path.exists():
        for report in reports:
            found = len(rows.get(report.benchmark, ()))
            if found != report.counts["n"]:
                raise InputError(
                    f"holds {found} verdicts on {report.benchmark}, the report is about "
                    f"{report.counts['n']}; measure again with --overwrite",
                    file=path,
                )
    return [Run(report.name, folder, report, tuple(rows.get(report.benchmark, ()))) for report in reports]


def _judged(row: Mapping[str, Any], verdict: Verdict) -> Judged:
    return Judged(
        id=row["id"],
        group=row["group"],
        source=row.get("source") or "",
        edit_type=row.get("edit_type") or "",
        question=row.get("question") or "",
        answer=row.get("answer") or "",
        document=row.get("document") or "",
        document_chars=int(row.get("document_chars") or 0),
        gold=Label(row["label"]),
        verdict=verdict,
    )
