"""Pairs: a faithful and a hallucinated answer about the same document, and which one a judge prefers."""

from collections.abc import Mapping, Sequence

from eval.benchmarks.base import Figures
from judge.types import Label, Sample, Verdict


def order(pair: Mapping[Label, Verdict]) -> float | None:
    """1 if the hallucinated answer of a pair has the higher probability of FAIL, 0.5 for a tie, otherwise 0.

    ``None`` if one of the two, or its probability, is missing.
    """
    if len(pair) < 2:
        return None
    wrong, right = pair[Label.FAIL].p_fail, pair[Label.PASS].p_fail
    if wrong is None or right is None:
        return None
    return 0.5 if wrong == right else float(wrong > right)


def pair_figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """How often the hallucinated sample gets the higher probability of FAIL, by source.

    Independent of the threshold; chance is one half, and ties count one half. Pairs are samples whose ids
    differ only in the suffix, ``-pass`` or ``-fail``. Pairs with a missing sample or probability are left
    out; ``pairs`` counts the others.
    """
    pairs: dict[tuple[str, str], dict[Label, Verdict]] = {}
    for sample, verdict in zip(samples, verdicts, strict=True):
        name, _, label = sample.id.rpartition("-")
        if label.upper() == sample.label:
            pairs.setdefault((sample.source, name), {})[sample.label] = verdict
    preferences: dict[str, list[float]] = {}
    for (source, _), pair in pairs.items():
        if (found := order(pair)) is not None:
            preferences.setdefault(source, []).append(found)
    rows: dict[str, dict[str, float | int | None]] = {
        source: {"pairs": len(found), "pair_accuracy": sum(found) / len(found)}
        for source, found in preferences.items()
    }
    return {"pairs": rows} if rows else {}
