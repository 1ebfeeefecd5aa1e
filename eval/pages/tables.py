"""The tables of a report, as values to show on a terminal, as Markdown and as HTML."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.benchmarks.base import Figures
from eval.metrics import Metrics
from eval.pages.runs import Run, SampleSet
from eval.pages.several import cell, note, repeated_runs, spreads
from eval.pages.slices import slices
from eval.pages.standings import Standing
from eval.repeats import Tables
from eval.tables import Cell, Kind, Row, Share, Table, points, three_digits

BEST_RULE = "best baseline"


def leaderboard(lines: Sequence[Standing]) -> Table:
    """The judges of all sets, each with the best baseline on its set."""
    rows = [
        Row(
            (
                line.name, line.set, line.mode, line.size or "-", line.metrics.n,
                Share(line.metrics.accuracy, line.metrics.accuracy_ci),
                Share(line.metrics.balanced_accuracy, line.metrics.balanced_accuracy_ci),
                _rule(line.best_baseline, line.baseline_figure),
                points(line.lift), line.metrics.f1, line.metrics.auroc, line.metrics.coverage,
            )
        )
        for line in lines
        if line.run is not None
    ]  # fmt: skip
    head = (
        "judge", "benchmark", "mode", "size", "n", "accuracy", "balanced accuracy", BEST_RULE, "over it",
        "F1", "AUROC", "coverage",
    )  # fmt: skip
    return Table("Leaderboard", head, rows, labels=4)


def _rule(name: str | None, figure: float | None) -> Cell:
    """A baseline's figure, with its name."""
    return "-" if name is None else Share(figure, name=name.removeprefix("baseline:"))


def set_tables(group: SampleSet) -> list[Table]:
    """Everything about one set: judges and baselines, by part, own figures, published rows, cost, slices."""
    found = (
        _main(group), _unparsed(group), repeated_runs(group), *_parts(group), *_figures(group),
        *_published(group), _calibration(group), *_slices(group), _cost(group),
    )  # fmt: skip
    return [table for table in found if table.rows]


def _main(group: SampleSet) -> Table:
    def row(name: str, metrics: Metrics, kind: Kind) -> Row:
        return Row(
            (
                name, metrics.n, Share(metrics.accuracy, metrics.accuracy_ci),
                Share(metrics.balanced_accuracy, metrics.balanced_accuracy_ci), metrics.precision,
                metrics.recall, Share(metrics.f1, metrics.f1_ci), Share(metrics.auroc, metrics.auroc_ci),
            ),
            kind,
        )  # fmt: skip

    rows = [row(run.name, run.report.mean_metrics(), "judge") for run in group.runs]
    rows += [row(name, metrics, "baseline") for name, metrics in group.report.baselines.items()]
    left_out = [f"{name} left out: {reason}" for name, reason in group.report.baselines_left_out.items()]
    head = ("judge", "n", "accuracy", "balanced accuracy", "precision", "recall", "F1", "AUROC")
    return Table("Judges and baselines", head, rows, notes=(*group.report.notes, *left_out))


def _unparsed(group: SampleSet) -> Table:
    """Figures over the parsed verdicts only, for judges with unparsed verdicts."""
    rows = [
        Row(
            (
                run.name, found.n - found.parsed, found.coverage, found.accuracy_answered,
                found.balanced_accuracy_answered, found.f1_answered,
            )
        )
        for run in group.runs
        if (found := run.report.metrics).parsed < found.n
    ]  # fmt: skip
    head = ("judge", "unparsed", "coverage", "accuracy", "balanced accuracy", "F1")
    return Table("Without the unparsed verdicts, which count as wrong above", head, rows)


def _parts(group: SampleSet) -> Iterator[Table]:
    """For each way in which the benchmark divides the set: one row per judge, one column per part."""
    for title in dict.fromkeys(title for run in group.runs for title in run.report.tables):
        own = [_sized(run.report.tables, title) for run in group.runs]
        parts = list(dict.fromkeys(part for found in own for part in found))
        if len(parts) < 2:
            continue
        both = all(metrics.balanced_accuracy is not None for found in own for metrics in found.values())
        figure = "balanced_accuracy" if both else "accuracy"
        rows = [
            Row((run.name, *(
                cell(getattr(found[part], figure), several.get(part[0]), figure) if part in found else None
                for part in parts
            )))
            for run, found in zip(group.runs, own, strict=True)
            for several in (spreads(run, "tables", title),)
        ]  # fmt: skip
        baselines = [
            (name, _sized(tables, title))
            for run in group.runs
            for name, tables in run.report.baseline_tables.items()
        ]
        if baselines:
            found = (
                [(name, getattr(row[part], figure)) for name, row in baselines if part in row]
                for part in parts
            )
            best = (max(rules, key=lambda one: one[1], default=(None, None)) for rules in found)
            rows.append(Row((BEST_RULE, *(_rule(*one) for one in best)), "baseline"))
        yield Table(
            f"By {title}: {figure.replace('_', ' ')}",
            ("judge", *(f"{name} ({n:,})" for name, n in parts)),
            rows,
            notes=note(group),
        )


def _sized(tables: Tables, title: str) -> dict[tuple[str, int], Metrics]:
    """The parts of one table by name and size, since parts of the same name can differ between runs."""
    return {(name, part.n): part for name, part in tables.get(title, {}).items()}


def _figures(group: SampleSet) -> Iterator[Table]:
    """The benchmark's own measures; for each row, all judges and baselines below each other."""
    measured: list[tuple[str, Figures, Run | None]] = [
        (run.name, run.report.figures, run) for run in group.runs
    ]
    measured += [(name, found, None) for name, found in group.report.baseline_figures.items()]
    for title, rows in group.report.figures.items():
        columns = list(dict.fromkeys(name for figures in rows.values() for name in figures))
        yield Table(
            title,
            ("", "judge", *columns),
            [
                Row(
                    (
                        name,
                        judge,
                        *(
                            cell(own[title][name].get(column), several.get(name), column)
                            for column in columns
                        ),
                    ),
                    "judge" if run else "baseline",
                )
                for name in rows
                for judge, own, run in measured
                if name in own.get(title, {})
                for several in ({} if run is None else spreads(run, "figures", title),)
            ],
            notes=note(group),
            labels=2,
        )


def _published(group: SampleSet) -> Iterator[Table]:
    """Published figures, above those measured here; columns that no run has are left out."""
    blocks: dict[str, list[tuple[Run, Mapping[str, Any]]]] = {}
    for run in group.runs:
        for block in run.report.published:
            blocks.setdefault(block["source"], []).append((run, block))
    for source, found in blocks.items():
        measured = [
            name for _, block in found for name, value in block["measured"].items() if value is not None
        ]
        columns = list(dict.fromkeys(measured))
        if not columns:
            continue
        rows = [
            Row((name, *(figures.get(column) for column in columns)), "published")
            for name, figures in found[0][1]["judges"].items()
        ]
        rows += [
            Row((f"measured: {run.name}", *(_measured(block, column) for column in columns)))
            for run, block in found
        ]
        yield Table(
            f"Published: {source}", ("judge", *columns), rows,
            notes=[*found[0][1]["notes"], *note(group)], warnings=_warnings(found),
        )  # fmt: skip


def _measured(block: Mapping[str, Any], column: str) -> Cell:
    value, spread = block["measured"].get(column), (block.get("spread") or {}).get(column)
    return value if spread is None or isinstance(value, int) else Share(value, spread=spread)


def _warnings(found: Sequence[tuple[Run, Mapping[str, Any]]]) -> list[str]:
    """Each warning once, followed by the runs it applies to unless it applies to all."""
    about: dict[str, list[str]] = {}
    for run, block in found:
        for warning in block["warnings"]:
            about.setdefault(warning, []).append(run.name)
    return [
        warning if len(names) == len(found) else f"{warning}: {', '.join(names)}"
        for warning, names in about.items()
    ]


def _cost(group: SampleSet) -> Table:
    """What a verdict costs, in tokens per sample and in seconds; baselines are not listed."""
    rows = []
    for run in group.runs:
        report, alone = run.report, run.report.latency
        speed = report.samples_per_second
        rows.append(
            Row(
                (
                    run.name,
                    round(report.metrics.prompt_tokens / report.metrics.n),
                    round(report.metrics.completion_tokens / report.metrics.n),
                    "-" if speed is None else three_digits(speed),
                    "-" if alone is None else f"{three_digits(alone.median)} ({three_digits(alone.p95)})",
                    report.counts["cut"],
                    report.counts["truncated"],
                )
            )
        )
    head = (
        "judge", "tokens read", "tokens written", "samples a second", "seconds alone (95 %)",
        "documents shortened", "outputs cut off",
    )  # fmt: skip
    return Table("Cost of a verdict", head, rows)


def _slices(group: SampleSet) -> Iterator[Table]:
    """Accuracy by length and by edit type, one row per judge."""
    found = {run.name: slices(run.judged) for run in group.runs if run.judged}
    for title in dict.fromkeys(title for own in found.values() for title in own):
        rows = {
            name: {
                f"{part.name} ({part.n:,})": Share(part.accuracy, part.interval)
                for part in own.get(title, ())
            }
            for name, own in found.items()
        }
        head = list(dict.fromkeys(part for row in rows.values() for part in row))
        shown = [Row((name, *map(row.get, head))) for name, row in rows.items()]
        yield Table(f"Accuracy by {title}", ("judge", *head), shown)


def _calibration(group: SampleSet) -> Table:
    """Calibration error, and accuracy on the most confident shares of the samples."""
    steps = [step.coverage for step in group.report.calibration.selective]
    rows = [
        Row((run.name, found.ece, found.ece_chance, *(step.accuracy for step in found.selective)))
        for run in group.runs
        if (found := run.report.calibration).n
    ]
    head = ("judge", "ECE", "by chance", *(f"surest {step:.0%}" for step in steps))
    return Table("Calibration, and accuracy on the surest verdicts", head, rows)
