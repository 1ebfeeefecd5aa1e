"""How far annotators, or several judges, agree beyond chance."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from judge.errors import InputError
from judge.types import Verdict


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
    observed, totals = 0.0, Counter[Hashable]()
    for number, item in enumerate(ratings):
        if len(item) != raters:
            raise InputError(f"item {number} has {len(item)} ratings and the first has {raters}")
        counts = Counter(item)
        totals += counts
        observed += (sum(count * count for count in counts.values()) - raters) / (raters * (raters - 1))
    observed /= len(ratings)
    chance = sum((count / (len(ratings) * raters)) ** 2 for count in totals.values())
    return None if len(totals) == 1 else (observed - chance) / (1 - chance)


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
