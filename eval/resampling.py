"""Figures from outcomes counted by group, and their values in bootstrap resamples of the groups.

Errors on samples about one document are not independent, so whole groups are drawn. The draws depend only
on the number of groups and the seed, not on the verdicts: intervals of different judges are comparable, and
two judges can be compared draw by draw.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from judge.types import Label, Verdict

Interval = tuple[float, float]
_CELLS = 4_000_000
"""Resamples are computed in blocks of about this many numbers, to limit memory."""


def interval(values: Any) -> Interval | None:
    """The middle 95 % of the resamples in which a figure is defined; ``None`` if it is in none."""
    import numpy as np

    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def drawn_weights(groups: int, resamples: int, seed: int, width: int) -> Iterator[Any]:
    """How often each group is in each resample, as arrays of shape (resamples in a block, groups).

    Args:
        groups: number of groups; each resample draws as many, with replacement.
        resamples: number of resamples.
        seed: the same seed gives the same draws.
        width: about how many numbers the caller computes per resample; determines the block size.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    block = max(1, _CELLS // width)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        chosen = random.integers(0, groups, (size, groups))
        chosen += np.arange(size)[:, None] * groups
        weights = np.bincount(chosen.ravel(), minlength=size * groups)
        yield weights.reshape(size, groups).astype(np.float64)


def divide(above: Any, below: Any) -> Any:
    """``above / below`` of arrays, nan where ``below`` is 0."""
    import numpy as np

    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


class Outcomes:
    """Gold labels and verdicts as arrays; ``FAIL`` is the positive class.

    Args:
        labels: the gold label of each sample.
        groups: the group of each sample; groups are resampled as a whole.
        verdicts: one for each sample. A verdict without a label counts as a miss on a FAIL sample, and as an
            error but not a predicted FAIL on a PASS sample.
    """

    def __init__(self, labels: Sequence[Label], groups: Sequence[str], verdicts: Sequence[Verdict]):
        import numpy as np

        numbers: dict[str, int] = {}
        rows = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
        self.size, self.groups = len(rows), len(numbers)
        self.fail = np.array([label is Label.FAIL for label in labels], dtype=bool)
        self.said_fail = np.array([verdict.label is Label.FAIL for verdict in verdicts], dtype=bool)
        self.said_pass = np.array([verdict.label is Label.PASS for verdict in verdicts], dtype=bool)
        self.parsed = self.said_fail | self.said_pass
        self.p_fail = np.array(
            [np.nan if verdict.p_fail is None else verdict.p_fail for verdict in verdicts], dtype=float
        )
        self.scored = np.isfinite(self.p_fail)
        self._counts = np.stack(
            (
                self.fail & self.said_fail, ~self.fail & self.said_pass, self.said_fail,
                self.fail, ~self.fail, np.ones_like(self.fail),
            ),
            axis=1,
        ).astype(float)  # fmt: skip
        self._per_group = np.zeros((self.groups, self._counts.shape[1]))
        np.add.at(self._per_group, rows, self._counts)
        self._ranking = _Ranking(self.p_fail[self.scored], self.fail[self.scored], rows[self.scored])

    def figures(self) -> dict[str, float | None]:
        """Accuracy, balanced accuracy, precision, recall, F1 and AUROC; ``None`` if undefined."""
        import numpy as np

        once = np.ones((1, self.groups))
        found = _rates(once @ self._per_group) | {"auroc": self._ranking.auroc(once)}
        return {name: _known(value[0]) for name, value in found.items()}

    def figures_of_parsed(self) -> dict[str, float | None]:
        """The same rates over the samples whose verdict could be parsed."""
        return {name: _known(value) for name, value in _rates(self._counts[self.parsed].sum(axis=0)).items()}

    def resampled(self, resamples: int, seed: int) -> dict[str, Any]:
        """Each figure in each resample of the groups, as arrays with nan where it is undefined.

        Empty without resamples, and for a single group.
        """
        import numpy as np

        if not resamples or self.groups < 2:
            return {}
        drawn = [
            _rates(weights @ self._per_group) | {"auroc": self._ranking.auroc(weights)}
            for weights in drawn_weights(self.groups, resamples, seed, self.size)
        ]
        return {name: np.concatenate([part[name] for part in drawn]) for name in drawn[0]}


def _known(value: Any) -> float | None:
    return None if value != value else float(value)  # nan is not itself


def _rates(counts: Any) -> dict[str, Any]:
    """Figures from (..., 6) counts: FAIL right, PASS right, predicted FAIL, all FAIL, all PASS, all."""
    hits, passes, predicted, n_fail, n_pass, n = (counts[..., column] for column in range(6))
    recall = divide(hits, n_fail)
    return {
        "accuracy": divide(hits + passes, n),
        "balanced_accuracy": (recall + divide(passes, n_pass)) / 2,
        "precision": divide(hits, predicted),
        "recall": recall,
        "f1": divide(2 * hits, predicted + n_fail),
    }


class _Ranking:
    """Sorted scores, to compute many weighted AUROCs at once (Mann-Whitney, ties count one half)."""

    def __init__(self, scores: Any, positive: Any, groups: Any):
        import numpy as np

        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        self.starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else order
        self.positive = positive[order].astype(np.float64)
        self.groups = groups[order]

    def auroc(self, weights: Any) -> Any:
        """The AUROC of each row of group weights (resamples x groups); nan where a class is missing."""
        import numpy as np

        if not len(self.starts):
            return np.full(len(weights), np.nan)
        rows = weights[:, self.groups]
        positive = np.add.reduceat(rows * self.positive, self.starts, axis=1)
        negative = np.add.reduceat(rows, self.starts, axis=1) - positive
        below = np.cumsum(negative, axis=1) - negative / 2
        return divide((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))
