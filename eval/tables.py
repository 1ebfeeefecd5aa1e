"""Reports as tables for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eval.cascade import CascadeCurve
from eval.comparison import Comparison
from eval.published import OVERALL
from eval.repeats import Spread
from eval.report import Report, decoding_text
from eval.resampling import Interval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from eval.metrics import Metrics

MOST_ROWS = 12
MOST_COLUMNS = 8
"""What is longer or wider is left out of the terminal; ``report.json`` has all of it."""


def report_tables(reports: Sequence[Report]) -> "Iterator[Table]":
    """Of each report: the judge and the baselines, by part; the benchmark's own figures; published rows."""
    for report in reports:
        yield _main_table(report)
        yield from _own_tables(report)
        yield from _published_tables(report)


def comparison_table(comparison: Comparison, first: str, second: str) -> "Table":
    """Both judges' figures and their differences."""
    alone = f"{comparison.only_first_right} and {comparison.only_second_right} of {comparison.n}"
    table = _new_table(
        f"{comparison.benchmark}: {first} against {second}",
        f"Percent; difference with 95 % interval. Only one is right: {alone}. McNemar's exact test: p = "
        f"{comparison.p_value:.3g}.",
    )
    for heading in ("figure", "first", "second", "difference"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for row in comparison.differences:
        table.add_row(
            row.figure, percent(row.first), percent(row.second), percent(row.difference, row.interval)
        )
    return table


def cascade_table(curve: CascadeCurve, first: str, second: str) -> "Table":
    """What cascades of two judges on one benchmark do, by how sure the first has to be."""
    table = _new_table(
        f"{curve.benchmark}: {first}, then {second} on what it doubts",
        "Percent, with 95 % intervals. For judge check, batch and eval: --set cascade_threshold=N "
        f"--set cascade_weight={curve.first_weight:g}",
    )
    for heading in ("cascade_threshold", "passed on", "balanced accuracy", "AUROC"):
        table.add_column(heading, justify="right")
    for step in curve.steps:
        name = "second alone" if step.sure is None else f"{step.sure:g}"
        accuracy = percent(step.balanced_accuracy, step.balanced_accuracy_ci)
        table.add_row(name, percent(step.passed_on), accuracy, percent(step.auroc))
    return table


def print_table(console: "Console", table: "Table") -> None:
    """Print a table; title and notes take the terminal's width, where its own keep to the columns."""
    from rich.text import Text

    title, notes, table.title, table.caption = table.title, table.caption, None, None
    console.print(Text.from_markup(str(title), style="table.title"))
    console.print(table)
    if notes is not None:
        console.print(Text.from_markup(str(notes), style="table.caption"))
    console.print()


def percent(value: float | None, interval: Interval | None = None, spread: float | None = None) -> str:
    """Percent with one decimal, and its interval or its spread over several runs on a second line."""
    if value is None:
        return "-"
    if spread is not None:
        return f"{percent(value)}\n[dim]±{100 * spread:.1f}[/dim]"
    text, *bounds = ("100" if share == 1 else f"{100 * share:.1f}" for share in (value, *(interval or ())))
    joint = " to " if interval and interval[0] < 0 else "-"
    return f"{text}\n[dim]{joint.join(bounds)}[/dim]" if bounds else text


def _new_table(title: str, caption: str = "") -> "Table":
    from rich.box import SIMPLE
    from rich.markup import escape
    from rich.table import Table

    return Table(
        title=escape(title), caption=escape(caption) or None, box=SIMPLE, title_justify="left",
        caption_justify="left", pad_edge=False, padding=(0, 0, 0, 1),
    )  # fmt: skip


def _row(metrics: "Metrics") -> list[str]:
    return [
        str(metrics.n),
        percent(metrics.accuracy, metrics.accuracy_ci),
        percent(metrics.balanced_accuracy, metrics.balanced_accuracy_ci),
        f"{percent(metrics.precision)}\n{percent(metrics.recall)}",
        percent(metrics.f1, metrics.f1_ci),
        percent(metrics.auroc, metrics.auroc_ci),
    ]


def _mean_row(n: int, several: Spread) -> list[str]:
    """The columns of :func:`_row` as means over several runs, with their spread."""
    found = {
        name: percent(several.mean.get(name), spread=several.spread.get(name))
        for name in ("accuracy", "balanced_accuracy", "f1", "auroc")
    }
    sides = f"{percent(several.mean.get('precision'))}\n{percent(several.mean.get('recall'))}"
    return [str(n), found["accuracy"], found["balanced_accuracy"], sides, found["f1"], found["auroc"]]


def _notes(report: Report) -> list[str]:
    counts, metrics = report.counts, report.metrics
    decoding = decoding_text(report.judge)
    notes = [
        f"Percent; P, R and F1 are those of FAIL; 95 % intervals by document. Mode {report.mode}"
        f"{f' ({decoding})' if decoding else ''}; "
        f"parsed {counts['parsed']} of {counts['n']}; outputs cut off {counts['truncated']}; "
        f"documents shortened {counts['cut']}."
    ]
    if counts["unparsed"]:
        notes.append(
            f"Unparsed verdicts count as wrong; over the {metrics.parsed} parsed alone: accuracy "
            f"{percent(metrics.accuracy_answered)}, balanced {percent(metrics.balanced_accuracy_answered)}, "
            f"F1 {percent(metrics.f1_answered)}."
        )
    if metrics.ece is not None:
        shares = [
            f"{percent(step.accuracy)} at {step.coverage:.0%}"
            for step in report.calibration.selective
            if step.accuracy is not None and step.coverage in (0.5, 0.8)
        ]
        selective = f"; accuracy on the most confident: {', '.join(shares)}" if shares else ""
        notes.append(f"Calibration error {percent(metrics.ece)}{selective}.")
    if report.repeats is not None:
        repeats = report.repeats
        spread = [
            f"{name.replace('_', ' ')} {percent(mean)} ± {100 * repeats.spread[name]:.1f}"
            for name, mean in repeats.mean.items()
            if name in ("accuracy", "balanced_accuracy", "f1", "auroc")
        ]
        notes.append(
            f"{repeats.runs} runs, mean ± standard deviation: {', '.join(spread)}; so are the parts, the "
            "benchmark's own figures and what is compared with published ones. The first row is run 1."
        )
    if metrics.prompt_tokens:
        speed = "" if report.samples_per_second is None else f"; {report.samples_per_second:.2f} samples/s"
        alone = report.latency
        latency = "" if alone is None else f"; alone {alone.median:.3g} s (95 %: {alone.p95:.3g} s)"
        notes.append(
            f"Tokens a sample: {metrics.prompt_tokens / metrics.n:.0f} read, "
            f"{metrics.completion_tokens / metrics.n:.0f} written{speed}{latency}."
        )
    notes += [
        f"By {part}: {len(rows)} rows, in report.json."
        for part, rows in report.tables.items()
        if len(rows) > MOST_ROWS
    ]
    notes += [f"{name} left out: {reason}" for name, reason in report.floors_left_out.items()]
    return [*notes, *report.notes]


def _main_table(report: Report) -> "Table":
    from rich.markup import escape

    table = _new_table(
        f"{report.benchmark}: {report.metrics.n_pass} PASS, {report.metrics.n_fail} FAIL",
        "\n".join(_notes(report)),
    )
    table.add_column("judge", overflow="fold")
    for heading in ("n", "accuracy", "balanced", "P\nR", "F1", "AUROC"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row(escape(report.name), *_row(report.metrics), style="bold")
    for name, metrics in report.floors.items():
        table.add_row(escape(name), *_row(metrics))
    for part, rows in report.tables.items():
        if not 2 <= len(rows) <= MOST_ROWS:
            continue
        table.add_section()
        table.add_row(f"[dim]by {escape(part)}[/dim]")
        for name, metrics in rows.items():
            several = None if report.repeats is None else report.repeats.tables.get(part, {}).get(name)
            row = _row(metrics) if several is None else _mean_row(metrics.n, several)
            table.add_row(escape(name), *row, style="bold")
            found = {floor: tables[part][name] for floor, tables in report.floor_tables.items()}
            if found:
                best = max(found, key=lambda floor: found[floor].accuracy)
                table.add_row(escape(f"  best: {best.removeprefix('floor:')}"), *_row(found[best]))
    return table


def _own_tables(report: Report) -> "Iterator[Table]":
    """The benchmark's own measures, the judge above the baselines in each row."""
    from rich.markup import escape

    for title, found in report.figures.items():
        names = list(found)
        rows = {name: found[name] for name in (names if len(names) <= MOST_ROWS else names[:1])}
        more = f"{len(found)} rows are in report.json." if len(found) > len(rows) else ""
        table = _new_table(f"{report.benchmark}: {title}", more)
        table.add_column("", overflow="fold")
        for heading in next(iter(rows.values()), {}):
            table.add_column(escape(heading), justify="right")
        for name, figures in rows.items():
            several = None if report.repeats is None else report.repeats.figures.get(title, {}).get(name)
            cells = [_figure(value, several, column) for column, value in figures.items()]
            table.add_row(escape(name), *cells, style="bold")
            for floor, own in report.floor_figures.items():
                if name in own.get(title, {}):
                    table.add_row(f"  {escape(floor)}", *map(_figure, own[title][name].values()))
        yield table


def _figure(value: float | int | None, several: Spread | None = None, column: str = "") -> str:
    """A share as percent, a count as it is; of several runs the mean and the spread."""
    if isinstance(value, int):
        return str(value)
    if several is not None and column in several.mean:
        return percent(several.mean[column], spread=several.spread[column])
    return percent(value)


def _published_tables(report: Report) -> "Iterator[Table]":
    """Published figures over the measured ones, with what makes the two unlike each other.

    Columns that were not measured are left out; ``report.json`` has them.
    """
    from rich.markup import escape

    for block in report.published:
        notes = [*(f"! {warning}" for warning in block["warnings"]), *block["notes"]]
        table = _new_table(f"{report.benchmark}, published: {block['source']}", "\n".join(notes))
        table.add_column("judge", overflow="fold", min_width=16)
        columns = [name for name, value in block["measured"].items() if value is not None]
        if len(columns) > MOST_COLUMNS:
            columns = [name for name in columns if name.startswith(OVERALL)]
        for column in columns:
            table.add_column(escape(column), justify="right", overflow="fold")
        for name, figures in block["judges"].items():
            table.add_row(escape(name), *_cells(figures, columns))
        table.add_section()
        spread = block.get("spread") or {}
        several = Spread({name: block["measured"][name] for name in spread}, spread)
        measured = (_figure(block["measured"][name], several, name) for name in columns)
        table.add_row("measured here", *measured, style="bold")
        if columns:
            yield table


def _cells(figures: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    return [_figure(figures.get(column)) for column in columns]
