"""What others report, one YAML file per benchmark, and how far it can be compared with what is measured here.

A printed figure belongs to a set of samples, a split and a protocol. Where these are not those of the
measurement, a warning says so; figures of parts are compared part by part.
"""

import statistics
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import PositiveInt, model_validator

from eval.benchmarks.base import Benchmark
from eval.metrics import Metrics
from judge.configs import StrictConfig, load_config
from judge.types import Mode

FOLDER = Path(__file__).parent
OVERALL = "overall"
SHARES = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "f1_pass")
"""Metrics that are printed in percent; everything else is a count."""


class Table(StrictConfig):
    """One printed table.

    ``judges`` maps a judge to its figures as printed: for each of ``parts``, and then for the whole if there
    is an ``overall``, one for each of ``metrics``. ``overall`` tells what the figures of the whole are taken
    over. ``samples``, ``split``, ``mode``, ``runs`` and ``temperature`` are the protocol, as far as known.
    """

    source: str
    metrics: tuple[str, ...]
    parts: tuple[str, ...] = ()
    overall: Literal["all samples", "mean of parts"] | None = None
    samples: PositiveInt | None = None
    split: str | None = None
    mode: Mode | None = None
    runs: PositiveInt = 1
    temperature: float | None = None
    notes: tuple[str, ...] = ()
    judges: dict[str, list[float | int | None]]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        wanted = len(self.rows) * len(self.metrics)
        for name, values in self.judges.items():
            if len(values) != wanted:
                raise ValueError(f"{name} has {len(values)} figures, the table has {wanted} columns")
        return self

    @property
    def rows(self) -> list[str]:
        """The parts, and the whole."""
        return [*self.parts, *([OVERALL] if self.overall else [])]

    def figures(self, judge: str) -> dict[tuple[str, str], float | int | None]:
        """(part, metric) to figure of one judge; percent become shares from 0 to 1."""
        keys = [(row, metric) for row in self.rows for metric in self.metrics]
        return {
            key: value / 100 if value is not None and key[1] in SHARES else value
            for key, value in zip(keys, self.judges[judge], strict=True)
        }


class Published(StrictConfig):
    """What is published about one benchmark."""

    benchmark: str
    tables: tuple[Table, ...]


@cache
def published(benchmark: str) -> tuple[Table, ...]:
    """The printed tables of a benchmark; none where nothing is known.

    Raises:
        InputError: the file is wrong.
    """
    path = FOLDER / f"{benchmark}.yaml"
    return load_config(Published, path).tables if path.exists() else ()


def beside(
    benchmark: Benchmark,
    metrics: Metrics,
    tables: Mapping[str, Mapping[str, Metrics]],
    judge: Mapping[str, Any],
    limit: int | None = None,
) -> tuple[dict[str, Any], ...]:
    """Published figures ready to stand beside measured ones, as JSON values.

    Args:
        benchmark: what was measured on.
        metrics: the measured figures over all samples.
        tables: the measured figures by part.
        judge: description of the judge, for its mode and temperature.
        limit: the limit of the draw.

    Returns:
        one block a printed table: ``source``, ``notes``, ``warnings``, and ``measured`` as well as each of
        ``judges`` as column to figure. Where the whole was printed as the mean of parts, a column with the
        mean over the parts that were measured makes it comparable.
    """
    parts = {_key(row): found for rows in tables.values() for row, found in rows.items()}
    return tuple(
        _block(table, metrics, parts, judge, limit)
        for table in published(benchmark.published or benchmark.name)
    )


def _key(name: str) -> str:
    """A part's name without what papers and files write differently: case and punctuation."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _block(
    table: Table, metrics: Metrics, parts: Mapping[str, Metrics], judge: Mapping[str, Any], limit: int | None
) -> dict[str, Any]:
    common = [part for part in table.parts if _key(part) in parts]
    measured: dict[tuple[str, str], float | int | None] = {}
    for row in table.rows:
        for metric in table.metrics:
            found = metrics if row == OVERALL else parts.get(_key(row))
            if row == OVERALL and table.overall == "mean of parts":
                found = None  # the column of means is what can be compared
            measured[row, metric] = getattr(found, metric, None)
    return {
        "source": table.source,
        "notes": list(table.notes),
        "warnings": _warnings(table, metrics.n, common, judge, limit),
        "measured": _columns(table, measured, common),
        "judges": {name: _columns(table, table.figures(name), common) for name in table.judges},
    }


def _columns(
    table: Table, figures: Mapping[tuple[str, str], float | int | None], common: Sequence[str]
) -> dict[str, float | int | None]:
    """Figures by the headings that people read, with the means over the common parts."""
    single = len(table.metrics) == 1
    found: dict[str, float | int | None] = {}
    for (row, metric), value in figures.items():
        found[(row if row != OVERALL else metric) if single else f"{row} {metric}"] = value
    if table.overall == "mean of parts" and len(common) > 1:
        for metric in table.metrics:
            values = [value for part in common if (value := figures[part, metric]) is not None]
            heading = f"mean of {len(common)}" + ("" if single else f" {metric}")
            found[heading] = statistics.mean(values) if len(values) == len(common) else None
    return found


def _warnings(
    table: Table, n: int, common: Sequence[str], judge: Mapping[str, Any], limit: int | None
) -> list[str]:
    """What makes the published figures unlike the measured ones."""
    found = []
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
    temperature = judge.get("temperature")
    if table.temperature is not None and mode is not None and table.temperature != temperature:
        found.append(
            f"published as the mean of {table.runs} runs at temperature {table.temperature:g}, measured at "
            f"{temperature or 0:g}"
        )
    return found
