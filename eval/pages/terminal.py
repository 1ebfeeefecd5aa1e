"""A report on the terminal: the tables of one judge on one benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING

from eval.pages.runs import Run, SampleSet
from eval.pages.tables import set_tables
from eval.report import Report, decoding_text
from eval.tables import print_table

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: "Console", report: Report) -> None:
    """The judge and the baselines, by part; the benchmark's own figures; published rows; cost."""
    decoding = decoding_text(report.judge)
    console.print(
        f"{report.benchmark}: {report.metrics.n_pass} PASS, {report.metrics.n_fail} FAIL; mode {report.mode}"
        + (f", {decoding}" if decoding else ""),
        style="bold",
        markup=False,
        highlight=False,
    )
    run = Run(report.name, Path(), report, ())
    for table in set_tables(SampleSet(report.benchmark, (run,))):
        print_table(console, table)
