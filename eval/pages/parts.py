"""Tables of the parts of a benchmark, with the best baseline of each part."""

from collections.abc import Iterator

from eval.metrics import Metrics
from eval.pages.runs import SampleSet
from eval.pages.several import cell, note, spreads
from eval.repeats import Tables
from eval.tables import Cell, Row, Share, Table

BEST_RULE = "best baseline"


def rule(name: str | None, figure: float | None) -> Cell:
    """A baseline's figure, with its name."""
    return "-" if name is None else Share(figure, name=name.removeprefix("floor:"))


def part_tables(group: SampleSet) -> Iterator[Table]:
    """A row a judge and a column a part of the set, for each way in which the benchmark parts it."""
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
        floors = [
            (name, _sized(tables, title))
            for run in group.runs
            for name, tables in run.report.floor_tables.items()
        ]
        if floors:
            found = (
                [(name, getattr(row[part], figure)) for name, row in floors if part in row] for part in parts
            )
            best = (max(rules, key=lambda one: one[1], default=(None, None)) for rules in found)
            rows.append(Row((BEST_RULE, *(rule(*one) for one in best)), "floor"))
        yield Table(
            f"By {title}: {figure.replace('_', ' ')}",
            ("judge", *(f"{name} ({n:,})" for name, n in parts)),
            rows,
            notes=note(group),
        )


def _sized(tables: Tables, title: str) -> dict[tuple[str, int], Metrics]:
    """The parts of one table by name and size: what runs call by one name need not be the same samples."""
    return {(name, part.n): part for name, part in tables.get(title, {}).items()}
