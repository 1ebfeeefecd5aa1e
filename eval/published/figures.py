"""The published tables, as stored in their YAML files."""

from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import PositiveInt, model_validator

from judge.configs import StrictConfig, load_config
from judge.errors import InputError
from judge.types import Mode

FOLDER = Path(__file__).parent
OVERALL = "overall"
SHARES = (
    "accuracy", "balanced_accuracy", "precision", "recall", "f1", "f1_pass", "one_sided", "pair_accuracy",
)  # fmt: skip
"""Metrics published in percent; all others are counts."""


class Table(StrictConfig):
    """One published table.

    ``judges`` maps a judge to its figures as printed: for each of ``parts``, then for the whole if there is
    an ``overall``, one figure per metric of ``metrics``. ``overall`` says what the overall figures are
    computed over. ``figures`` names a table of the benchmark's own measures, whose rows are the parts;
    without it, parts are rows of the common tables. ``samples``, ``split``, ``mode``, ``runs``,
    ``temperature`` and ``top_p`` are the protocol, if known; ``warnings`` list other differences.
    """

    source: str
    metrics: tuple[str, ...]
    parts: tuple[str, ...] = ()
    overall: Literal["all samples", "mean of parts"] | None = None
    figures: str | None = None
    samples: PositiveInt | None = None
    split: str | None = None
    mode: Mode | None = None
    runs: PositiveInt = 1
    temperature: float | None = None
    top_p: float | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
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

    def printed(self, judge: str) -> dict[tuple[str, str], float | int | None]:
        """(part, metric) to figure of one judge; percentages become shares from 0 to 1."""
        keys = [(row, metric) for row in self.rows for metric in self.metrics]
        return {
            key: value / 100 if value is not None and key[1] in SHARES else value
            for key, value in zip(keys, self.judges[judge], strict=True)
        }


class Column(StrictConfig):
    """One part of another benchmark's table whose samples were taken from this benchmark.

    ``part`` is its name there, ``row`` the corresponding part of this benchmark, by default the whole.
    ``samples`` and ``split`` say what was taken, ``warnings`` what differs from this benchmark.
    """

    of: str
    part: str
    row: str | None = None
    samples: PositiveInt | None = None
    split: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def table(self) -> Table:
        """The column as a separate table.

        Raises:
            InputError: if there is no such part.
        """
        found = next((table for table in published(self.of) if self.part in table.parts), None)
        if found is None:
            raise InputError(f"no published table of {self.of} has the part {self.part!r}", field="columns")
        start = found.parts.index(self.part) * len(found.metrics)
        return Table(
            source=f"{found.source}, column {self.part}",
            metrics=found.metrics,
            parts=() if self.row is None else (self.row,),
            overall="all samples" if self.row is None else None,
            samples=self.samples,
            split=self.split,
            mode=found.mode,
            runs=found.runs,
            temperature=found.temperature,
            top_p=found.top_p,
            notes=self.notes,
            warnings=self.warnings,
            judges={
                name: values[start : start + len(found.metrics)] for name, values in found.judges.items()
            },
        )


class Published(StrictConfig):
    """What is published on one benchmark: tables, and columns of other benchmarks' tables."""

    benchmark: str
    tables: tuple[Table, ...] = ()
    columns: tuple[Column, ...] = ()


@cache
def published(benchmark: str) -> tuple[Table, ...]:
    """The published tables of a benchmark; empty if none are known.

    Raises:
        InputError: if the file is wrong.
    """
    path = FOLDER / f"{benchmark}.yaml"
    if not path.exists():
        return ()
    found = load_config(Published, path)
    return (*found.tables, *(column.table() for column in found.columns))
