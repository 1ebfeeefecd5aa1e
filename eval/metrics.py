"""How good verdicts are. ``FAIL`` is the positive class; shares are from 0 to 1; absent values are ``None``.

A verdict that could not be parsed is wrong: on a FAIL sample it is a miss, on a PASS sample it is an error
but no predicted FAIL. Intervals are 95 % percentile intervals of a bootstrap over groups, because samples
about one document do not err independently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from judge.errors import InputError, JudgeError
from judge.types import Label, Sample, Verdict

Interval = tuple[float, float]
INTERVALS = ("accuracy", "balanced_accuracy", "f1", "auroc")
_CELLS = 4_000_000
"""Resamples are made in blocks of about this many numbers, to bound memory."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """One row of figures. ``precision``, ``recall`` and ``f1`` are those of FAIL.

    ``accuracy`` and ``balanced_accuracy`` count unparsed verdicts as wrong. ``auroc`` is over the ``scored``
    samples, those with a probability. ``truncated`` counts outputs that hit their length limit, ``cut``
    documents that were shortened to fit. ``*_ci`` are intervals (low, high).
    """

    n: int
    n_pass: int
    n_fail: int
    parsed: int
    scored: int
    truncated: int
    cut: int
    coverage: float
    accuracy: float
    balanced_accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    auroc: float | None
    accuracy_ci: Interval | None = None
    balanced_accuracy_ci: Interval | None = None
    f1_ci: Interval | None = None
    auroc_ci: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Metrics":
        """Back from :meth:`to_dict`, also after a journey through JSON."""
        values = {field.name: row[field.name] for field in fields(cls)}
        intervals = {
            name: tuple(value) for name, value in values.items() if name.endswith("_ci") and value is not None
        }
        return cls(**values | intervals)


def _divide(above: Any, below: Any) -> Any:
    """``above / below`` of arrays, nan where ``below`` is nought."""
    import numpy as np

    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


def _rates(counts: Any) -> dict[str, Any]:
    """Figures from (..., 6) counts: FAIL right, PASS right, predicted FAIL, all FAIL, all PASS, all."""
    hits, passes, predicted, n_fail, n_pass, n = (counts[..., column] for column in range(6))
    recall = _divide(hits, n_fail)
    return {
        "accuracy": _divide(hits + passes, n),
        "balanced_accuracy": (recall + _divide(passes, n_pass)) / 2,
        "precision": _divide(hits, predicted),
        "recall": recall,
        "f1": _divide(2 * hits, predicted + n_fail),
    }


class _Ranking:
    """Scores in order, for many weighted AUROCs at once (Mann-Whitney, ties count one half)."""

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
        return _divide((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))


def _interval(values: Any) -> Interval | None:
    """The middle 95 % of the resamples in which the figure exists."""
    import numpy as np

    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _bootstrap(per_group: Any, ranking: _Ranking, resamples: int, seed: int) -> dict[str, Interval | None]:
    """Intervals from resampled groups, keyed by the names of :class:`Metrics`."""
    import numpy as np

    groups = len(per_group)
    random = np.random.default_rng(seed)
    drawn: dict[str, list[Any]] = {name: [] for name in INTERVALS}
    block = max(1, _CELLS // max(groups, len(ranking.groups)))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        chosen = random.integers(0, groups, (size, groups)) + np.arange(size)[:, None] * groups
        weights = (
            np.bincount(chosen.ravel(), minlength=size * groups).reshape(size, groups).astype(np.float64)
        )
        figures = _rates(weights @ per_group) | {"auroc": ranking.auroc(weights)}
        for name in INTERVALS:
            drawn[name].append(figures[name])
    return {f"{name}_ci": _interval(np.concatenate(parts)) for name, parts in drawn.items()}


def score(
    samples: Sequence[Sample], verdicts: Sequence[Verdict], *, bootstrap: int = 1000, seed: int = 0
) -> Metrics:
    """Measure verdicts against gold labels.

    Args:
        samples: labelled; those of one ``group`` are resampled together.
        verdicts: one for each sample, in order.
        bootstrap: number of resamples; 0 for no intervals. There are none either for a single group.
        seed: of the resamples; the same for every judge, so that intervals are comparable.

    Raises:
        InputError: no sample, or one without a gold label.
        JudgeError: the numbers of samples and verdicts differ.
    """
    import numpy as np

    if len(samples) != len(verdicts):
        raise JudgeError(f"{len(verdicts)} verdicts for {len(samples)} samples; the judge must give one each")
    if not samples:
        raise InputError("there is no sample to measure on")
    for sample in samples:
        if sample.label is None:
            raise InputError(f"sample {sample.id!r} has no gold label; measuring needs one for each sample")

    numbers: dict[str, int] = {}
    groups = np.array(
        [numbers.setdefault(item.group or item.document_text, len(numbers)) for item in samples]
    )
    fail = np.array([sample.label is Label.FAIL for sample in samples])
    said_fail = np.array([verdict.label is Label.FAIL for verdict in verdicts])
    said_pass = np.array([verdict.label is Label.PASS for verdict in verdicts])
    scores = np.array(
        [np.nan if verdict.p_fail is None else verdict.p_fail for verdict in verdicts], dtype=float
    )
    scored = np.isfinite(scores)

    columns = (fail & said_fail, ~fail & said_pass, said_fail, fail, ~fail, np.ones_like(fail))
    per_group = np.zeros((len(numbers), len(columns)))
    np.add.at(per_group, groups, np.stack(columns, axis=1).astype(float))
    ranking = _Ranking(scores[scored], fail[scored], groups[scored])
    figures = {name: float(value) for name, value in _rates(per_group.sum(axis=0)).items()}
    figures["auroc"] = float(ranking.auroc(np.ones((1, len(numbers))))[0])
    shares: dict[str, Any] = {name: None if np.isnan(value) else value for name, value in figures.items()}
    if bootstrap and len(numbers) > 1:
        shares |= _bootstrap(per_group, ranking, bootstrap, seed)
    parsed = int((said_fail | said_pass).sum())
    return Metrics(
        n=len(samples),
        n_pass=int((~fail).sum()),
        n_fail=int(fail.sum()),
        parsed=parsed,
        scored=int(scored.sum()),
        truncated=sum(verdict.truncated for verdict in verdicts),
        cut=sum(verdict.cut_chars > 0 for verdict in verdicts),
        coverage=parsed / len(samples),
        **shares,
    )


def score_by_source(
    samples: Sequence[Sample], verdicts: Sequence[Verdict], *, bootstrap: int = 1000, seed: int = 0
) -> dict[str, Metrics]:
    """:func:`score` for each source by itself, in the order of their first samples."""
    rows: dict[str, list[int]] = {}
    for position, sample in enumerate(samples):
        rows.setdefault(sample.source or "(no source)", []).append(position)
    return {
        source: score(
            [samples[row] for row in chosen],
            [verdicts[row] for row in chosen],
            bootstrap=bootstrap,
            seed=seed,
        )
        for source, chosen in rows.items()
    }
