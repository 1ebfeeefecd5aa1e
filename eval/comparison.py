"""Is one judge better than another on the same samples, or is it chance?

Both judged the same samples, so they are compared sample by sample: McNemar's test looks at the samples on
which exactly one of them is right, and the bootstrap draws whole groups and takes the difference of the two
in each draw. McNemar's test assumes independent samples; if several belong to one document, trust the
interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.report import read_reports
from eval.resampling import Interval, Outcomes, interval
from eval.verdicts import VERDICTS, first_run, result_folder
from judge.errors import InputError, counted, warn
from judge.progress import track
from judge.types import Label, Verdict

FIGURES = ("accuracy", "balanced_accuracy", "auroc")


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of both judges, and the difference, first minus second, with its 95 % interval."""

    figure: str
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two judges on one benchmark.

    ``only_first_right`` and ``only_second_right`` count the samples that decide McNemar's exact test, whose
    two-sided p value is ``p_value``. Unparsed verdicts count as wrong. The AUROC is over the samples for
    which both gave a probability.
    """

    benchmark: str
    n: int
    both_right: int
    only_first_right: int
    only_second_right: int
    both_wrong: int
    p_value: float
    differences: tuple[Difference, ...]


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p value of McNemar's exact test: could a fair coin split these samples as unevenly?"""
    from scipy.stats import binomtest

    decided = only_first + only_second
    return float(binomtest(only_first, decided).pvalue) if decided else 1.0


class Resampled:
    """A judge's verdicts with figures and resamples, over all samples or those that another scored too.

    Resampling takes most of the time of a comparison. It is done once per set of scored samples, so that
    many judges can be compared with each other.

    Args:
        labels: the gold label of each sample.
        groups: the group of each sample; groups are resampled as a whole.
        verdicts: one for each sample, in order.
        bootstrap: number of resamples; 0 for no intervals.
        seed: of the resamples.
    """

    def __init__(
        self,
        labels: Sequence[Label],
        groups: Sequence[str],
        verdicts: Sequence[Verdict],
        bootstrap: int = 1000,
        seed: int = 0,
    ):
        import numpy as np

        self._labels, self._groups, self._verdicts = labels, groups, verdicts
        self._bootstrap, self._seed = bootstrap, seed
        self.right = np.array(
            [verdict.label is label for verdict, label in zip(verdicts, labels, strict=True)], dtype=bool
        )
        self.scored = np.array([verdict.p_fail is not None for verdict in verdicts], dtype=bool)
        self._known: dict[bytes, tuple[dict[str, float | None], Mapping[str, Any]]] = {}

    def over(self, shared: Any) -> tuple[dict[str, float | None], Mapping[str, Any]]:
        """Figures, and their values in all resamples; the AUROC is over the ``shared`` samples only."""
        key = shared.tobytes()
        if key not in self._known:
            verdicts = [
                verdict if keep else replace(verdict, p_fail=None)
                for keep, verdict in zip(shared, self._verdicts, strict=True)
            ]
            outcomes = Outcomes(self._labels, self._groups, verdicts)
            self._known[key] = outcomes.figures(), outcomes.resampled(self._bootstrap, self._seed)
        return self._known[key]


def compare(benchmark: str, one: Resampled, two: Resampled) -> Comparison:
    """Compare two judges on the same samples, in the same order."""
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


def compare_results(first: Path, second: Path, *, bootstrap: int = 1000, seed: int = 0) -> list[Comparison]:
    """Compare two result folders on every benchmark that both hold, by the first of repeated runs.

    Raises:
        InputError: see :func:`same_samples`.
    """
    return [
        compare(
            both.benchmark,
            *(
                Resampled(both.labels, both.groups, judge, bootstrap, seed)
                for judge in (both.first, both.second)
            ),
        )
        for both in same_samples(first, second)
    ]


@dataclass(frozen=True, slots=True)
class SameSamples:
    """The verdicts of two judges on the same samples of a benchmark, in the same order."""

    benchmark: str
    labels: Sequence[Label]
    groups: Sequence[str]
    first: Sequence[Verdict]
    second: Sequence[Verdict]


def same_samples(first: Path, second: Path) -> Iterator[SameSamples]:
    """The verdicts of two result folders on each benchmark that both hold; of repeated runs, the first.

    Raises:
        InputError: if a folder holds no finished result, no benchmark is in both, or the samples differ.
    """
    first, second = result_folder(first), result_folder(second)
    one, two = _read(first), _read(second)
    names = [name for name in one if name in two]
    if not names:
        raise InputError(
            f"has no benchmark in common with {second} ({', '.join(one)} here, {', '.join(two)} there)",
            file=first,
        )
    for folder, left in (first, one.keys() - two.keys()), (second, two.keys() - one.keys()):
        if left:
            warn(f"left out, as only {folder} has them: {', '.join(sorted(left))}")
    for name in track(names, "benchmarks compared", len(names)):
        mine, other = one[name], two[name]
        ids = {key[0] for key in other}
        if changed := [key[0] for key in mine if key not in other and key[0] in ids]:
            raise InputError(
                f"{name}: {counted(len(changed), 'sample')} had another label or text in {second}, such as "
                f"{changed[0]!r:.80}; compare runs on the same samples: judge again what has changed",
                file=first,
            )
        if mine.keys() != other.keys():
            apart = len(mine.keys() ^ other.keys())
            raise InputError(
                f"{name}: {apart} samples were judged in only one of this and {second}; compare runs on "
                "the same samples (same data, --limit and --seed)",
                file=first,
            )
        yield SameSamples(
            name,
            [Label(row["label"]) for row, _ in mine.values()],
            [row["group"] for row, _ in mine.values()],
            *([rows[key][1] for key in mine] for rows in (mine, other)),
        )


def _read(folder: Path) -> dict[str, dict[tuple[str, str], tuple[dict[str, Any], Verdict]]]:
    """Rows and verdicts of a finished result's first run by benchmark and (id, hash of the sample)."""
    read_reports(folder)  # refuses an unfinished result
    found: dict[str, dict[tuple[str, str], tuple[dict[str, Any], Verdict]]] = {}
    for row, verdict in first_run(folder):
        found.setdefault(row["benchmark"], {})[row["id"], row["sample"]] = row, verdict
    if not found:
        raise InputError("holds no verdict", file=folder / VERDICTS)
    return found
