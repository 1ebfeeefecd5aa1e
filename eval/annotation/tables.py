"""Agreement as tables for the terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eval.agreement import Figure
from eval.annotation.agreement import AgreementReport

if TYPE_CHECKING:
    from rich.table import Table

MOST = 20
"""Disagreements that are shown; ``--json`` has all."""


def agreement_tables(report: AgreementReport) -> "Iterator[Table]":
    """Agreement by source; every two annotators; with the data set's labels; what to look at."""
    unsure = "a label of its own" if report.with_unsure else "not labelled"
    table = _table("Agreement", f"'Unsure' counts as {unsure}. 95 % intervals by document.")
    _columns(table, "source", "samples", "raw", "Cohen", "Fleiss", "alpha")
    for name, part in report.sources.items():
        _row(table, name, str(part.samples), *map(_shown, (part.raw, part.cohen, part.fleiss, part.alpha)))
    yield table

    names = list(report.counts)
    if len(names) > 2:
        table = _table("Cohen's kappa of every two annotators")
        pairs = list(report.sources["overall"].pairs)
        _columns(table, "source", *pairs)
        for name, part in report.sources.items():
            _row(table, name, *(_shown(part.pairs.get(pair)) for pair in pairs))
        yield table

    if report.sources["overall"].reference:
        table = _table("Labels that are the data set's own", "As Lynx, Table 2, has it; 1 is all.")
        _columns(table, "source", "all annotators", *names)
        for name, part in report.sources.items():
            _row(table, name, *(_shown(part.reference.get(who)) for who in ("all", *names)))
        yield table

    table = _table("Annotators")
    _columns(table, "annotator", "PASS", "FAIL", "UNSURE")
    for name, counts in report.counts.items():
        _row(table, name, *(str(counts.get(label, 0)) for label in ("PASS", "FAIL", "UNSURE")))
    yield table

    if report.disagreements:
        more = len(report.disagreements) - MOST
        table = _table("To look at", f"{more} more are in --json." if more > 0 else "")
        _columns(table, "sample", "source", "data set", *names)
        for item in report.disagreements[:MOST]:
            said = (item.labels.get(name, "") for name in names)
            _row(table, item.id, item.source, item.reference or "", *said)
        yield table


def _table(title: str, caption: str = "") -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    return Table(
        title=title, caption=caption or None, box=SIMPLE, title_justify="left", caption_justify="left",
        pad_edge=False,
    )  # fmt: skip


def _columns(table: "Table", first: str, *others: str) -> None:
    from rich.markup import escape

    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(escape(name), justify="right")


def _row(table: "Table", *cells: str) -> None:
    from rich.text import Text

    table.add_row(*map(Text, cells))  # names and ids are data, not markup


def _shown(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "-"
    text = f"{figure.value:.3f}"
    if figure.interval is None:
        return text
    low, high = figure.interval
    return f"{text}\n{low:.2f}{' to ' if low < 0 else '-'}{high:.2f}"
