"""Cells and tables for judges run several times with different seeds: mean and standard deviation."""

from collections.abc import Mapping
from typing import Literal

from eval.pages.runs import Run, SampleSet
from eval.repeats import Spread
from eval.report import decoding_text
from eval.tables import Cell, Row, Share, Table, percent

NAMES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auroc": "AUROC"}


def spreads(run: Run, kind: Literal["tables", "figures"], title: str) -> Mapping[str, Spread]:
    """Mean and spread by row of a table for a judge with several runs; empty for a single run."""
    repeats = run.report.repeats
    if repeats is None:
        return {}
    return (repeats.tables if kind == "tables" else repeats.figures).get(title, {})


def cell(value: float | int | None, several: Spread | None, figure: str) -> Cell:
    """A figure of a single run, or the mean and spread of several; counts are the same in all runs."""
    if several is None or figure not in several.mean or isinstance(value, int):
        return value
    return Share(several.mean[figure], spread=several.spread[figure])


def note(group: SampleSet) -> list[str]:
    """The note for tables in which a judge has several runs."""
    found = [run for run in group.runs if run.report.repeats is not None]
    names = ", ".join(run.name for run in found)
    return [f"{names}: mean ± standard deviation of all runs."] if found else []


def repeated_runs(group: SampleSet) -> Table:
    """Mean and standard deviation over runs with other seeds."""
    rows = [
        Row(
            (
                run.name,
                found.runs,
                decoding_text(run.report.judge) or "-",
                *(
                    f"{percent(found.mean[name])} ± {percent(found.spread[name])}"
                    if name in found.mean
                    else None
                    for name in NAMES
                ),
            )
        )
        for run in group.runs
        if (found := run.report.repeats) is not None
    ]
    return Table(
        "Repeated runs, mean and standard deviation", ("judge", "runs", "first run", *NAMES.values()), rows,
        notes=["Intervals, calibration and slices by length or edit type are those of the first run."],
    )  # fmt: skip
