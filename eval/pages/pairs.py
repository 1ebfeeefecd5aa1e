"""Every two judges of the same samples compared; the resamples of each are drawn once."""

from itertools import combinations

from eval.comparison import Comparison, Resampled, compare
from eval.pages.runs import SampleSet


def compare_all(
    group: SampleSet, *, bootstrap: int = 1000, seed: int = 0
) -> dict[tuple[int, int], Comparison]:
    """Positions of two runs in a set to their comparison; runs without verdicts are left out.

    With 20 runs there are 190 pairs.
    """
    resampled = {
        place: Resampled(
            [row.gold for row in run.judged],
            [row.group for row in run.judged],
            [row.verdict for row in run.judged],
            bootstrap,
            seed,
        )
        for place, run in enumerate(group.runs)
        if run.judged
    }
    return {
        (one, two): compare(group.report.benchmark, resampled[one], resampled[two])
        for one, two in combinations(resampled, 2)
    }
