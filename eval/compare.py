"""``judge compare``: two results, sample by sample, and what a cascade of the two would do."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eval.cascade import CascadeCurve, cascade_curves
from eval.comparison import Comparison, compare_results
from eval.tables import Row, Share, Table, percent, points, print_table
from judge.errors import InputError


def compare_command(
    first: Annotated[Path, typer.Argument(help="Result folder of one judge.")],
    second: Annotated[Path, typer.Argument(help="Result folder of the other.")],
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for intervals; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    cascade: Annotated[
        bool,
        typer.Option("--cascade", help="Show a cascade: the second judges what the first is unsure of."),
    ] = False,
    cascade_weight: Annotated[
        float, typer.Option(min=0, max=1, help="With --cascade: weight of the first judge in the rest.")
    ] = 0.0,
) -> None:
    """Compare two judges sample by sample: McNemar's exact test, intervals for the differences."""
    from rich.console import Console

    if cascade_weight and not cascade:
        raise InputError("--cascade-weight is for --cascade; add it, or omit the weight")
    found: list[CascadeCurve] | list[Comparison] = (
        cascade_curves(first, second, first_weight=cascade_weight, bootstrap=bootstrap, seed=seed)
        if cascade
        else compare_results(first, second, bootstrap=bootstrap, seed=seed)
    )
    if as_json:
        typer.echo(json.dumps([asdict(item) for item in found], ensure_ascii=False, indent=2))
        return
    for item in found:
        print_table(Console(), _table(item, str(first), str(second)))


def _table(found: CascadeCurve | Comparison, first: str, second: str) -> Table:
    if isinstance(found, CascadeCurve):
        return cascade_table(found, first, second)
    return comparison_table(found, first, second)


def comparison_table(comparison: Comparison, first: str, second: str) -> Table:
    """Both judges' figures and their differences."""
    alone = f"{comparison.only_first_right} and {comparison.only_second_right} of {comparison.n}"
    rows = [
        Row((row.figure, row.first, row.second, points(row.difference, row.interval)), "")
        for row in comparison.differences
    ]
    bounds = "; difference with 95 % interval" if any(row.interval for row in comparison.differences) else ""
    note = f"Percent{bounds}. Only one is right: {alone}. McNemar's exact test: p = {comparison.p_value:.3g}."
    title = f"{comparison.benchmark}: {first} against {second}"
    return Table(title, ("figure", "first", "second", "difference"), rows, notes=(note,))


def cascade_table(curve: CascadeCurve, first: str, second: str) -> Table:
    """The figures of cascades of two judges on one benchmark, by how sure the first has to be."""
    rows = [
        Row(
            (
                "second alone" if step.sure is None else f"{step.sure:g}", percent(step.passed_on),
                Share(step.balanced_accuracy, step.balanced_accuracy_ci), step.auroc,
            ),
            "",
        )
        for step in curve.steps
    ]  # fmt: skip
    bounds = ", with 95 % intervals" if any(step.balanced_accuracy_ci for step in curve.steps) else ""
    note = (
        f"Percent{bounds}. For judge check, batch and eval: --set cascade_threshold=N "
        f"--set cascade_weight={curve.first_weight:g}"
    )
    title = f"{curve.benchmark}: {first}, then {second} on what it doubts"
    return Table(title, ("cascade_threshold", "passed on", "balanced accuracy", "AUROC"), rows, notes=(note,))
