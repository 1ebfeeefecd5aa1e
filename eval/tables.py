"""Tables as values, and how they are shown: on a terminal, as Markdown, and by the template of the HTML page.

Shares are shown in percent, differences in percentage points.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from eval.resampling import Interval
from judge.markdown import plain
from judge.markdown import table as markdown_table
from judge.shipped import is_baseline

if TYPE_CHECKING:
    from rich.console import Console

Kind = Literal["judge", "baseline", "published", ""]

MOST_ROWS = 24
"""Rows that a terminal shows of a longer table; of a table that is too wide it shows the last columns."""
NAME = 17
"""Terminal columns reserved for the name of a row."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share from 0 to 1 with its 95 % interval, or the mean of several runs with their standard deviation.

    ``name`` says which judge or baseline it belongs to, if the table does not.
    """

    value: float | None
    interval: Interval | None = None
    spread: float | None = None
    name: str = ""


Cell = str | int | float | Share | None
"""Texts, counts, and shares, which are shown in percent."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row; ``kind`` says what is measured in it, empty for other rows."""

    cells: Sequence[Cell]
    kind: Kind = "judge"


@dataclass(frozen=True, slots=True)
class Table:
    """One table. ``warnings`` say why rows may not be comparable; the first ``labels`` columns name a row."""

    title: str
    head: Sequence[str]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    labels: int = 1


def percent(share: float | None) -> str:
    """A share in percent, without the percent sign."""
    return "-" if share is None else f"{100 * share:.1f}"


def three_digits(number: float) -> str:
    """A time or a speed: ``0.0123``, ``4.57``, ``1,274``."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def points(difference: float | None, interval: Interval | None = None) -> str:
    """A difference of shares in percentage points, with its sign and its interval."""
    if difference is None:
        return "-"
    bounds = "" if interval is None else f" ({' to '.join(map(points, interval))})"
    return f"{100 * difference:+.1f}".replace("-", "−") + bounds


def shown(cell: Cell) -> str:
    """A cell as text."""
    if isinstance(cell, Share):
        bounds = "" if cell.interval is None else f" ({'–'.join(map(percent, cell.interval))})"
        spread = "" if cell.spread is None else f" ± {percent(cell.spread)}"
        name = f" ({cell.name})" if cell.name else ""
        return percent(cell.value) + spread + bounds + name
    if cell is None or isinstance(cell, float):
        return percent(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def table_lines(table: Table) -> str:
    """The rows of a table as Markdown: names of judges in bold, of published judges in italics."""
    style = {"judge": "**", "baseline": "", "published": "*", "": ""}
    rows = []
    for row in table.rows:
        mark = style[row.kind]
        first, *others = (plain(shown(cell)) for cell in row.cells)
        rows.append([f"{mark}{first}{mark}" if first else "", *others])
    return "\n".join(markdown_table([plain(name) for name in table.head], rows, table.labels))


def table_blocks(table: Table) -> Iterator[str]:
    """A table as blocks of Markdown, with its title, warnings and notes."""
    yield f"### {plain(table.title)}"
    yield from [f"> Warning: {plain(warning)}" for warning in table.warnings]
    yield table_lines(table)
    yield from [plain(note) for note in table.notes]


def print_table(console: "Console", table: Table) -> None:
    """Print a table on a terminal, with intervals on a second line; wide tables of few rows are transposed.

    What does not fit is left out, and a note says so.
    """
    from rich.box import SIMPLE
    from rich.table import Table as Grid
    from rich.text import Text

    limit = console.width - NAME
    if table.labels == 1 and len(table.rows) < len(table.head) and _width(_columns(table)[1:]) > limit:
        table = _turned(table)
    names, figures = _columns(table)[: table.labels], _columns(table)[table.labels :]
    while len(figures) > 1 and _width(figures) > limit:
        del figures[0]
    grid = Grid(box=SIMPLE, show_edge=False, pad_edge=False, padding=0)
    for head, *_ in names:
        grid.add_column(Text(head), overflow="fold")
    for head, *_ in figures:
        grid.add_column(Text(head), justify="right", no_wrap=True)
    for place, row in enumerate(table.rows[:MOST_ROWS], start=1):
        named = [Text(_parted(column[place])) for column in names]
        lines = (column[place].partition("\n") for column in figures)
        cells = [*named, *(Text(first) + Text(mark + rest, "dim") for first, mark, rest in lines)]
        grid.add_row(*cells, style="bold" if row.kind == "judge" else "")
    notes = [*(f"! {warning}" for warning in table.warnings), *table.notes]
    if len(names) + len(figures) < len(table.head) or len(table.rows) > MOST_ROWS:
        notes.append("This table is longer or wider; --json has all of it.")
    console.print(Text(table.title, "table.title"), grid, Text("\n".join([*notes, ""]), "table.caption"))


def _parted(name: str) -> str:
    """A long baseline name on two lines, split at its colon; the terminal would split it within a word."""
    return name.replace(":", ":\n", 1) if is_baseline(name) and len(name) > NAME else name


def _turned(table: Table) -> Table:
    """The table transposed."""
    rows = [
        Row([name, *(row.cells[at] for row in table.rows)], "")
        for at, name in enumerate(table.head[1:], start=1)
    ]
    return replace(table, head=["", *(shown(row.cells[0]) for row in table.rows)], rows=rows)


def _columns(table: Table) -> list[list[str]]:
    """Each column as texts, the heading first; in columns of figures, line breaks are added."""
    columns = [[name, *(shown(row.cells[at]) for row in table.rows)] for at, name in enumerate(table.head)]
    for column in columns[table.labels :]:
        column[0] = re.sub(" (?!%)", "\n", column[0])
        short = (text.replace("100.0", "100") for text in column[1:])
        column[1:] = [re.sub(r" \(?(.*?)\)?$", r"\n\1", text, count=1) for text in short]
    return columns


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(1 + max(len(line) for text in column for line in text.split("\n")) for column in columns)
