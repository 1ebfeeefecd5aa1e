"""Every two judges of the same samples compared; as :func:`eval.comparison.compare`, resampling each once."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from eval.comparison import FIGURES, Comparison, Difference, mcnemar
from eval.pages.runs import Run, SampleSet
from eval.resampling import Outcomes, interval
from judge.types import Verdict


def compare_all(
    group: SampleSet, *, bootstrap: int = 1000, seed: int = 0
) -> dict[tuple[int, int], Comparison]:
    """Positions of two runs in a set to their comparison; runs without verdicts are left out.

    With 20 runs there are 190 pairs: the resamples, which take nearly all the time, are drawn once a run.
    """
    resampled = {
        place: _Resampled(run, bootstrap, seed) for place, run in enumerate(group.runs) if run.judged
    }
    return {
        (one, two): _compare(group.report.benchmark, resampled[one], resampled[two])
        for one, two in combinations(resampled, 2)
    }


class _Resampled:
    """A run's figures and resamples, over all samples or over those that another run has scores for, too."""

    def __init__(self, run: Run, bootstrap: int, seed: int):
        import numpy as np

        self._run, self._bootstrap, self._seed = run, bootstrap, seed
        self.right = np.array([row.verdict.label is row.gold for row in run.judged])
        self.scored = np.array([row.verdict.p_fail is not None for row in run.judged])
        self._known: dict[bytes, tuple[dict[str, float | None], Mapping[str, Any]]] = {}

    def over(self, shared: Any) -> tuple[dict[str, float | None], Mapping[str, Any]]:
        """Figures, and each figure in all resamples; AUROC over the ``shared`` samples alone."""
        key = shared.tobytes()
        if key not in self._known:
            rows = self._run.judged
            outcomes = Outcomes(
                [row.gold for row in rows],
                [row.group for row in rows],
                list(_scores_of(shared, [row.verdict for row in rows])),
            )
            enough = self._bootstrap and outcomes.groups > 1
            drawn = outcomes.resampled(self._bootstrap, self._seed) if enough else {}
            self._known[key] = outcomes.figures(), drawn
        return self._known[key]


def _scores_of(shared: Any, verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    """The verdicts, those that are not shared without their score."""
    for keep, verdict in zip(shared, verdicts, strict=True):
        yield verdict if keep else Verdict(verdict.label)


def _compare(benchmark: str, one: _Resampled, two: _Resampled) -> Comparison:
    shared = one.scored & two.scored
    (first, draws), (second, others) = one.over(shared), two.over(shared)
    only_first, only_second = int((one.right & ~two.right).sum()), int((two.right & ~one.right).sum())
    differences = []
    for name in FIGURES:
        mine, other = first[name], second[name]
        differences.append(
            Difference(
                name,
                mine,
                other,
                None if mine is None or other is None else mine - other,
                interval(draws[name] - others[name]) if draws else None,
            )
        )
    return Comparison(
        benchmark=benchmark,
        n=len(one.right),
        both_right=int((one.right & two.right).sum()),
        only_first_right=only_first,
        only_second_right=only_second,
        both_wrong=int((~one.right & ~two.right).sum()),
        p_value=mcnemar(only_first, only_second),
        differences=tuple(differences),
    )
