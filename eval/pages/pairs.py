"""Compares every two judges on the same samples; the resamples of each judge are drawn once."""

from collections.abc import Mapping
from itertools import combinations

from eval.comparison import Comparison, Resampled, compare
from eval.pages.runs import SampleSet
from eval.pages.several import NAMES
from eval.tables import Row, Table, points


def compare_all(group: SampleSet) -> dict[tuple[int, int], Comparison]:
    """Positions of two runs in a set to their comparison; runs without verdicts are left out.

    With 20 runs there are 190 pairs.
    """
    resampled = {
        place: Resampled(
            [row.gold for row in run.judged],
            [row.group for row in run.judged],
            [row.verdict for row in run.judged],
        )
        for place, run in enumerate(group.runs)
        if run.judged
    }
    return {
        (one, two): compare(group.report.benchmark, resampled[one], resampled[two])
        for one, two in combinations(resampled, 2)
    }


def pair_table(group: SampleSet, pairs: Mapping[tuple[int, int], Comparison]) -> Table:
    """Every two judges: differences with intervals, and McNemar's test."""
    rows = [
        Row(
            (
                group.runs[one].name, group.runs[two].name,
                *(
                    points(row.difference, row.interval) for row in found.differences
                ),
                found.only_first_right, found.only_second_right, f"{found.p_value:.2g}",
            )
        )
        for (one, two), found in pairs.items()
    ]  # fmt: skip
    figures = [NAMES[row.figure] for row in next(iter(pairs.values())).differences] if pairs else []
    head = ("first", "second", *figures, "only first right", "only second right", "McNemar's p")
    return Table("First minus second, in points", head, rows, labels=2)
