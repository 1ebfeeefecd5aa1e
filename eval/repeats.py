"""The scores of one run of a judge, and mean and spread over several runs with different seeds."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from eval.benchmarks.base import Figures
from eval.metrics import Metrics

FIGURES = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "auroc", "coverage")
"""The common figures whose mean and spread are computed."""

Tables = dict[str, dict[str, Metrics]]
"""Table to row to figures, with the rows of :meth:`eval.benchmarks.base.Benchmark.tables`."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: over all samples, by part of the benchmark, and in the benchmark's own measures."""

    metrics: Metrics
    tables: Tables
    figures: Figures


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation over runs, by figure; only figures that every run has."""

    mean: dict[str, float]
    spread: dict[str, float]


SpreadTables = dict[str, dict[str, Spread]]
"""Table to row to mean and spread."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Repeated runs with different seeds: ``tables`` are by part, ``figures`` the benchmark's own measures.

    ``mean`` and ``spread`` (standard deviation) are over all samples, by figure; ``metrics`` are per run.
    """

    runs: int
    temperature: float | None
    seeds: tuple[int | None, ...]
    mean: dict[str, float]
    spread: dict[str, float]
    metrics: tuple[Metrics, ...]
    tables: SpreadTables = field(default_factory=dict)
    figures: SpreadTables = field(default_factory=dict)


def spread_of(runs: Sequence[Mapping[str, float | int | None]]) -> Spread:
    """Mean and standard deviation of each figure that all runs have; needs at least two runs."""
    mean: dict[str, float] = {}
    spread: dict[str, float] = {}
    for name in runs[0]:
        values = [value for run in runs if (value := run.get(name)) is not None]
        if len(values) == len(runs):
            mean[name], spread[name] = statistics.mean(values), statistics.stdev(values)
    return Spread(mean, spread)


def repeats(runs: Sequence[Measured], described: Sequence[Mapping[str, Any]]) -> Repeats | None:
    """Mean and spread over repeated runs; ``None`` for a single one.

    Args:
        runs: what each run scored, on the same samples.
        described: the judge's description in each run.
    """
    if len(runs) < 2:
        return None
    whole = spread_of([_common(run.metrics) for run in runs])
    first = runs[0]
    return Repeats(
        runs=len(runs),
        temperature=described[0].get("temperature"),
        seeds=tuple(row.get("seed") for row in described),
        mean=whole.mean,
        spread=whole.spread,
        metrics=tuple(run.metrics for run in runs),
        tables={
            table: {row: spread_of([_common(run.tables[table][row]) for run in runs]) for row in rows}
            for table, rows in first.tables.items()
        },
        figures={
            table: {
                row: spread_of([run.figures[table][row] for run in runs])
                for row in rows
                if all(row in run.figures.get(table, {}) for run in runs)
            }
            for table, rows in first.figures.items()
        },
    )


def _common(metrics: Metrics) -> dict[str, float | int | None]:
    found = asdict(metrics)
    return {name: found[name] for name in FIGURES}
