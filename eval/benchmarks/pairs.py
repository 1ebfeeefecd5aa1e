"""Pairs: a right and a hallucinated answer to the same document, and which of the two a judge prefers."""

from collections.abc import Sequence

from eval.benchmarks.base import Figures
from judge.types import Label, Sample, Verdict


def pair_figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """How often the hallucinated sample gets the higher probability of FAIL, by source.

    Chance is one half, whatever the threshold; ties count one half. Pairs are samples whose ids differ only
    in a last part, ``-pass`` or ``-fail``. Pairs that were not drawn whole or have no probability are left
    out; ``pairs`` counts the others.
    """
    scores: dict[tuple[str, str], dict[Label, float]] = {}
    for sample, verdict in zip(samples, verdicts, strict=True):
        name, _, label = sample.id.rpartition("-")
        if label.upper() == sample.label and verdict.p_fail is not None:
            scores.setdefault((sample.source, name), {})[sample.label] = verdict.p_fail
    preferences: dict[str, list[float]] = {}
    for (source, _), pair in scores.items():
        if len(pair) == 2:
            wrong, right = pair[Label.FAIL], pair[Label.PASS]
            preferences.setdefault(source, []).append(0.5 if wrong == right else float(wrong > right))
    rows: dict[str, dict[str, float | int | None]] = {
        source: {"pairs": len(found), "pair_accuracy": sum(found) / len(found)}
        for source, found in preferences.items()
    }
    return {"pairs": rows} if rows else {}
