"""How far annotators, or several judges, agree beyond chance: raw agreement, Cohen, Fleiss, Krippendorff.

Each figure is a formula over sums of counts, and whole documents are resampled for its interval
(:mod:`eval.resampling`): thousands of resamples are one product of two arrays.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from eval.resampling import Interval, divide, drawn_weights, interval
from judge.errors import InputError
from judge.types import Verdict


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, its 95 % interval over documents, and how many items it is over.

    ``None`` where it does not exist: no item that two have rated, or all ratings of one category, where
    chance alone explains everything.
    """

    value: float | None
    interval: Interval | None
    n: int


class Ratings:
    """Who put which item into which category; nobody has to have rated all of them.

    Args:
        items: of each item the categories, by rater.
        groups: the document of each item; documents are resampled whole.
        resamples: for the intervals; 0 for none.
        seed: of the resamples.
    """

    def __init__(
        self,
        items: Sequence[Mapping[str, Hashable]],
        groups: Sequence[str],
        *,
        resamples: int = 1000,
        seed: int = 0,
    ):
        import numpy as np

        self.raters = sorted({rater for item in items for rater in item})
        self.categories = sorted({category for item in items for category in item.values()}, key=str)
        self.resamples, self.seed = resamples, seed
        place = {category: number for number, category in enumerate(self.categories)}
        numbers: dict[str, int] = {}
        self._groups = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
        # items x raters x categories: 1 where that rater chose that category
        self._chose = np.zeros((len(items), len(self.raters), len(self.categories)))
        for row, item in enumerate(items):
            for column, rater in enumerate(self.raters):
                if rater in item:
                    self._chose[row, column, place[item[rater]]] = 1
        self._counts = self._chose.sum(axis=1)

    def raw(self) -> Figure:
        """The share of pairs of ratings of one item that are the same."""
        same, pairs = _pairs(self._counts)
        rated = pairs > 0
        return self._figure(
            _stack(same, pairs)[rated], rated, lambda sums: divide(sums[..., 0], sums[..., 1])
        )

    def cohen(self, first: str, second: str) -> Figure:
        """Cohen's kappa of two raters over the items that both rated (Cohen 1960)."""
        import numpy as np

        one, two = (self._chose[:, self.raters.index(rater)] for rater in (first, second))
        both = (one.sum(axis=1) * two.sum(axis=1)) > 0
        tables = np.einsum("ij,ik->ijk", one[both], two[both])
        return self._figure(tables.reshape(len(tables), len(self.categories) ** 2), both, self._cohen)

    def mean_cohen(self) -> Figure:
        """The mean of Cohen's kappa over all pairs of raters that it exists for; without an interval."""
        found = [self.cohen(*pair) for pair in combinations(self.raters, 2)]
        values = [figure.value for figure in found if figure.value is not None]
        if len(self.raters) == 2:
            return found[0]
        return Figure(
            sum(values) / len(values) if values else None, None, max((f.n for f in found), default=0)
        )

    def fleiss(self) -> Figure:
        """Fleiss' kappa over the items that every rater rated (Fleiss 1971; DiaHalu, section 4.3)."""
        rated = self._counts.sum(axis=1) == len(self.raters)
        if len(self.raters) < 2:
            rated[:] = False
        return self._figure(_fleiss_columns(self._counts[rated]), rated, _fleiss)

    def alpha(self) -> Figure:
        """Krippendorff's alpha for nominal data, over the items that two or more rated.

        Ratings may be missing (Krippendorff, Computing Krippendorff's Alpha-Reliability, section E).
        """
        rated = self._counts.sum(axis=1) > 1
        counts = self._counts[rated]
        agreeing = _pairs(counts)[0] * 2 / (counts.sum(axis=1) - 1)
        return self._figure(_stack(agreeing, *counts.T), rated, _alpha)

    def _figure(self, columns: Any, chosen: Any, formula: Callable[[Any], Any]) -> Figure:
        """A figure of the sums of columns (items x columns), and of those sums in resamples of the groups."""
        import numpy as np

        if not len(columns):
            return Figure(None, None, 0)
        value = float(formula(columns.sum(axis=0)))
        _, groups = np.unique(self._groups[chosen], return_inverse=True)
        sums = np.zeros((groups.max() + 1, columns.shape[1]))
        np.add.at(sums, groups, columns)
        found = [
            formula(weights @ sums)
            for weights in drawn_weights(len(sums), self.resamples, self.seed, len(columns))
        ]
        bounds = interval(np.concatenate(found)) if found and value == value else None
        return Figure(value if value == value else None, bounds, len(columns))

    def _cohen(self, sums: Any) -> Any:
        import numpy as np

        size = len(self.categories)
        table = sums.reshape(*sums.shape[:-1], size, size)
        n = sums.sum(axis=-1)
        chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
        return divide(np.trace(table, axis1=-2, axis2=-1) * n - chance, n * n - chance)


def _stack(*columns: Any) -> Any:
    import numpy as np

    return np.stack(columns, axis=1)


def _share(sums: Any) -> Any:
    return divide(sums[..., 0], sums[..., 1])


def _pairs(counts: Any) -> tuple[Any, Any]:
    """Of each item (items x categories): pairs of the same ratings, and all pairs."""
    n = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1) / 2, n * (n - 1) / 2


def _fleiss_columns(counts: Any) -> Any:
    """Of each item: its share of agreeing pairs, one, and how often each category was chosen."""
    same, pairs = _pairs(counts)
    return _stack(divide(same, pairs), pairs > 0, *counts.T)


def _fleiss(sums: Any) -> Any:
    observed = _share(sums)
    totals = sums[..., 2:]
    n = totals.sum(axis=-1)
    chance = divide((totals * totals).sum(axis=-1), n * n)
    return divide(observed - chance, 1 - chance)


def _alpha(sums: Any) -> Any:
    agreeing, totals = sums[..., 0], sums[..., 1:]
    n = totals.sum(axis=-1)
    observed = 1 - divide(agreeing, n)
    expected = 1 - divide((totals * (totals - 1)).sum(axis=-1), n * (n - 1))
    return 1 - divide(observed, expected)


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """Fleiss' kappa: 1 for full agreement, 0 for that of chance (Fleiss 1971; DiaHalu, section 4.3).

    DiaHalu prints its observed agreement without the ``- N_A`` of the first class, which would count every
    annotator as agreeing with himself; this is Fleiss' own formula.

    Args:
        ratings: for each item the categories that its raters chose, in any order; as many for every item.

    Returns:
        kappa, or ``None`` if all ratings are of one category, where chance alone explains everything.

    Raises:
        InputError: no item, fewer than two raters, or not as many for every item.
    """
    if not ratings:
        raise InputError("there is no item to measure agreement on")
    raters = len(ratings[0])
    if raters < 2:
        raise InputError(f"agreement needs at least 2 raters of every item, found {raters}")
    for number, item in enumerate(ratings):
        if len(item) != raters:
            raise InputError(f"item {number} has {len(item)} ratings and the first has {raters}")
    items = [{str(rater): category for rater, category in enumerate(item)} for item in ratings]
    return Ratings(items, [""] * len(items), resamples=0).fleiss().value


def judge_agreement(verdicts: Mapping[str, Sequence[Verdict]]) -> tuple[float | None, int]:
    """Fleiss' kappa of several judges over the samples that all of them gave a label.

    Args:
        verdicts: those of each judge, by its name, for the same samples in the same order.

    Returns:
        kappa, and the number of samples it is over; ``None`` and 0 if there is none.

    Raises:
        InputError: fewer than two judges, or different numbers of verdicts.
    """
    if len({len(found) for found in verdicts.values()}) > 1:
        counts = ", ".join(f"{name}: {len(found)}" for name, found in verdicts.items())
        raise InputError(f"the judges have different numbers of verdicts ({counts})")
    if len(verdicts) < 2:
        raise InputError(f"agreement needs at least 2 judges, found {len(verdicts)}")
    ratings = [[verdict.label for verdict in row] for row in zip(*verdicts.values(), strict=True)]
    complete = [row for row in ratings if None not in row]
    return (fleiss_kappa(complete), len(complete)) if complete else (None, 0)
