"""What tables are made of, and how figures are written: shares in percent, differences in points."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eval.resampling import Interval

Kind = Literal["judge", "floor", "published"]


@dataclass(frozen=True, slots=True)
class Share:
    """A share from 0 to 1 with its 95 % interval; of several runs the mean, with their standard deviation."""

    value: float | None
    interval: Interval | None = None
    spread: float | None = None


Cell = str | int | float | Share | None
"""Texts, counts, and shares, which are shown in percent."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row; ``kind`` says who is measured in it."""

    cells: Sequence[Cell]
    kind: Kind = "judge"


@dataclass(frozen=True, slots=True)
class Table:
    """One table; ``warnings`` say why rows may not be comparable, ``labels`` how many columns name a row."""

    title: str
    head: Sequence[str]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    labels: int = 1


def percent(share: float | None) -> str:
    """A share in percent, without its sign."""
    return "-" if share is None else f"{100 * share:.1f}"


def points(difference: float | None) -> str:
    """A difference of shares in points of percent, with its sign."""
    return "-" if difference is None else f"{100 * difference:+.1f}".replace("-", "−")


def shown(cell: Cell) -> str:
    """A cell as text."""
    if isinstance(cell, Share):
        bounds = "" if cell.interval is None else f" ({'–'.join(map(percent, cell.interval))})"
        spread = "" if cell.spread is None else f" ± {percent(cell.spread)}"
        return percent(cell.value) + spread + bounds
    if cell is None or isinstance(cell, float):
        return percent(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell
