"""Is one judge better than another on the same samples, or is it chance?

Both judged the same samples, so they are compared sample by sample: McNemar's test looks at the samples on
which exactly one of them is right, and the bootstrap draws whole groups and takes the difference of the two
in each draw. McNemar's test takes samples to be independent; where several belong to one document, trust
the interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.resampling import Interval, Outcomes, interval
from eval.verdicts import VERDICTS, verdict_from_row
from judge.errors import InputError
from judge.files import read_jsonl
from judge.types import Label, Verdict

FIGURES = ("accuracy", "balanced_accuracy", "auroc")


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of both, and first minus second with its 95 % interval."""

    figure: str
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two judges on one benchmark.

    ``only_first_right`` and ``only_second_right`` count the samples that decide McNemar's exact test, whose
    two-sided p value is ``p_value``. An unparsed verdict is wrong. The AUROC is over the samples that both
    gave a probability.
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
    """Two-sided p value of McNemar's exact test: would a fair coin part the decided samples so unevenly?"""
    from scipy.stats import binomtest

    decided = only_first + only_second
    return float(binomtest(only_first, decided).pvalue) if decided else 1.0


def compare(
    benchmark: str,
    labels: Sequence[Label],
    groups: Sequence[str],
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    *,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Compare two judges' verdicts on the same samples, in the same order."""
    right = [
        [verdict.label is label for verdict, label in zip(found, labels, strict=True)]
        for found in (first, second)
    ]
    table = {
        (one, two): sum(pair == (one, two) for pair in zip(*right, strict=True))
        for one in (True, False)
        for two in (True, False)
    }
    shared = [
        one.p_fail is not None and two.p_fail is not None for one, two in zip(first, second, strict=True)
    ]
    one, two = (
        Outcomes(
            labels,
            groups,
            [
                verdict if both else replace(verdict, p_fail=None)
                for verdict, both in zip(found, shared, strict=True)
            ],
        )
        for found in (first, second)
    )
    drawn: Mapping[str, Any] = {}
    if bootstrap and one.groups > 1:
        draws, others = one.resampled(bootstrap, seed), two.resampled(bootstrap, seed)
        drawn = {name: draws[name] - others[name] for name in FIGURES}
    figures, other_figures = one.figures(), two.figures()
    differences = []
    for name in FIGURES:
        mine, other = figures[name], other_figures[name]
        differences.append(
            Difference(
                name,
                mine,
                other,
                None if mine is None or other is None else mine - other,
                interval(drawn[name]) if name in drawn else None,
            )
        )
    return Comparison(
        benchmark=benchmark,
        n=len(labels),
        both_right=table[True, True],
        only_first_right=table[True, False],
        only_second_right=table[False, True],
        both_wrong=table[False, False],
        p_value=mcnemar(table[True, False], table[False, True]),
        differences=tuple(differences),
    )


def compare_results(first: Path, second: Path, *, bootstrap: int = 1000, seed: int = 0) -> list[Comparison]:
    """Compare two result folders on every benchmark that both hold; of repeated runs, the first.

    Raises:
        InputError: a folder holds no verdicts, no benchmark is in both, or they judged different samples.
    """
    one, two = _read(first), _read(second)
    names = [name for name in one if name in two]
    if not names:
        raise InputError(
            f"has no benchmark in common with {second} ({', '.join(one)} there, {', '.join(two)} here)",
            file=first,
        )
    found = []
    for name in names:
        mine, other = one[name], two[name]
        if mine.keys() != other.keys():
            apart = len(mine.keys() ^ other.keys())
            raise InputError(
                f"{name}: {apart} samples were judged in only one of this and {second}; compare runs on "
                "the same samples (same data, --limit and --seed)",
                file=first,
            )
        rows = list(mine.values())
        found.append(
            compare(
                name,
                [Label(row["label"]) for row in rows],
                [row["group"] for row in rows],
                [verdict_from_row(row) for row in rows],
                [verdict_from_row(other[key]) for key in mine],
                bootstrap=bootstrap,
                seed=seed,
            )
        )
    return found


def _read(folder: Path) -> dict[str, dict[tuple[str, str], dict[str, Any]]]:
    """The rows of a result's first run by benchmark and (id, hash of the sample)."""
    path = folder / VERDICTS
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for line, row in read_jsonl(path):
        try:
            if row.get("run", 0) == 0:
                found.setdefault(row["benchmark"], {})[row["id"], row["sample"]] = row
                verdict_from_row(row)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"is no verdict of `judge eval` ({error!r})", file=path, line=line) from None
    if not found:
        raise InputError("holds no verdict", file=path)
    return found
