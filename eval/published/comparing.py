"""Compares published figures with measured ones, and says how the two differ."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from eval.metrics import Metrics
from eval.published.figures import OVERALL, Table, published
from eval.repeats import Measured, spread_of

Value = float | int | None
Values = dict[tuple[str, str], Value]
"""(part, metric) to figure."""


def to_compare(
    benchmark: str, runs: Sequence[Measured], judge: Mapping[str, Any], limit: int | None = None
) -> tuple[dict[str, Any], ...]:
    """Published figures next to the measured ones, as JSON values.

    Args:
        benchmark: name of the benchmark.
        runs: the scores of each run; their mean is compared with the published figures.
        judge: description of the judge, for its mode and sampling.
        limit: the limit of the draw.

    Returns:
        One block per published table: ``source``, ``notes``, ``warnings``, and as column to figure,
        ``measured`` and each of ``judges``; ``spread`` is the standard deviation over several runs. If the
        published overall figure is a mean of parts, a column with the mean over the measured parts is added
        for comparison.
    """
    return tuple(_block(table, runs, judge, limit) for table in published(benchmark))


def _key(name: str) -> str:
    """A part's name without case and punctuation, in which papers and files differ."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _block(
    table: Table, runs: Sequence[Measured], judge: Mapping[str, Any], limit: int | None
) -> dict[str, Any]:
    there = _parts(table, runs[0])
    common = [part for part in table.parts if _key(part) in there]
    columns = [_columns(table, _values(table, run), common) for run in runs]
    several = spread_of(columns) if len(runs) > 1 else None
    return {
        "source": table.source,
        "notes": list(table.notes),
        "warnings": [*table.warnings, *_warnings(table, runs, common, judge, limit)],
        "measured": columns[0] if several is None else {name: several.mean.get(name) for name in columns[0]},
        "spread": None if several is None else several.spread,
        "judges": {name: _columns(table, table.printed(name), common) for name in table.judges},
    }


def _parts(table: Table, run: Measured) -> dict[str, Metrics | Mapping[str, Value]]:
    """The measured figures of each part."""
    if table.figures is not None:
        return {_key(row): found for row, found in run.figures.get(table.figures, {}).items()}
    return {_key(row): found for rows in run.tables.values() for row, found in rows.items()}


def _values(table: Table, run: Measured) -> Values:
    """The figures of one run that a table has; if its overall is a mean of parts, ``None`` for the overall,
    since only the column of means is comparable."""
    parts = _parts(table, run)
    values: Values = {}
    for row in table.rows:
        whole = row == OVERALL
        found = run.metrics if whole and table.overall == "all samples" else parts.get(_key(row))
        for metric in table.metrics:
            value = found.get(metric) if isinstance(found, Mapping) else getattr(found, metric, None)
            values[row, metric] = value
    return values


def _columns(table: Table, figures: Values, common: Sequence[str]) -> dict[str, Value]:
    """Figures by readable headings, with the means over the common parts."""
    single = len(table.metrics) == 1
    found: dict[str, Value] = {}
    for (row, metric), value in figures.items():
        heading = f"{row} {metric}"
        if single and row == OVERALL:
            heading = metric
        elif single and len(table.parts) > 1:
            heading = row
        found[heading] = value
    if table.overall == "mean of parts" and len(common) > 1:
        for metric in table.metrics:
            values = [value for part in common if (value := figures[part, metric]) is not None]
            heading = f"mean of {len(common)}" + ("" if single else f" {metric}")
            found[heading] = statistics.mean(values) if len(values) == len(common) else None
    return found


def _warnings(
    table: Table, runs: Sequence[Measured], common: Sequence[str], judge: Mapping[str, Any], limit: int | None
) -> list[str]:
    """Differences in samples, parts and protocol between the published and the measured figures."""
    found = []
    n = _measured_samples(table, runs[0])
    drawn = "" if limit is None else f" (--limit {limit})"
    if table.samples is not None and table.samples != n:
        of_split = "" if table.split is None else f" of {table.split}"
        found.append(f"published on {table.samples:,} samples{of_split}, measured on {n:,}{drawn}")
    elif table.samples is None:
        found.append(f"published on an unknown number of samples, measured on {n:,}{drawn}")
    absent = [part for part in table.parts if part not in common]
    if absent:
        found.append(f"not measured: {', '.join(absent)}")
    mode = judge.get("mode")
    if table.mode is not None and mode is not None and table.mode != mode:
        found.append(f"published in {table.mode} mode, measured in {mode} mode")
    if mode is not None:
        found += _sampling(table, len(runs), judge)
    return found


def _measured_samples(table: Table, run: Measured) -> int:
    """The number of samples overall, or in the only part that a table is about."""
    if table.overall is None and len(table.parts) == 1 and table.figures is None:
        part = _parts(table, run).get(_key(table.parts[0]))
        return part.n if isinstance(part, Metrics) else 0
    return run.metrics.n


def _sampling(table: Table, runs: int, judge: Mapping[str, Any]) -> list[str]:
    temperature, top_p = judge.get("temperature") or 0.0, judge.get("top_p", 1.0)
    if table.temperature is not None and table.temperature != temperature:
        return [
            f"published as the mean of {table.runs} runs at temperature {table.temperature:g}, measured at "
            f"{temperature:g}"
        ]
    found = []
    if table.temperature is not None and table.top_p is not None and table.top_p != top_p:
        found.append(f"published with top_p {table.top_p:g}, measured with {top_p:g}")
    if table.runs > 1 and table.runs != runs:
        found.append(f"published as the mean of {table.runs} runs, measured in {runs}")
    return found
