"""Could a judge learn the labels without reading? Trivial rules by source, language, kind and edit type.

Each rule is fitted and scored in folds by document, so pairs stay together. Otherwise a rule that memorises
one answer of a pair and is scored on the other would come out *below* chance, and hide a shortcut.
A rule is fitted on a whole cell; the figures of its edit types come from the same scores.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from data_pipeline.audit.cells import OTHERS, Cell, sample_pairs
from data_pipeline.audit.coherence import coherence, parts_of
from data_pipeline.audit.figures import Figure, auroc, balanced_accuracy, share
from data_pipeline.audit.limits import MIN_PAIRS, limit_of, verdict
from data_pipeline.sources.store import pair_of
from data_pipeline.teachers.rules_checks import label_by_rules
from judge.baselines.rules import TrivialBaseline
from judge.errors import InputError
from judge.types import Label, Sample

BASELINES = {
    "answer_only": "baseline:answer-only",
    "length": "baseline:length",
    "overlap": "baseline:overlap",
}
JUDGED = 300
"""Samples of a cell that the rule judge judges, in whole pairs: it takes milliseconds per sample."""
NGRAMS, TELLING = 8, 4.0
"""Telling words listed per label, and their minimum z-score: high because thousands are compared."""

Scores = Mapping[str, Mapping[str, float]]
"""For each figure, the probability of FAIL by sample id."""


def measure(cell: Cell, samples: Sequence[Sample]) -> tuple[list[dict[str, Any]], Mapping[str, float]]:
    """The figures of a cell, and of each of its edit types.

    Returns:
        Rows of JSON values, the whole cell first; and the answer-only rule's probability of FAIL by id.
    """
    scores = score(samples)
    parts = by_edit_type(samples)
    rows = [_row(cell, samples, None, (), scores)]
    rows[0]["ngrams"] = telling_ngrams(samples) if scores["answer_only"] else {}
    if len(parts) > 1:
        rows += [_row(cell, part, name, types, scores) for name, types, part in parts]
    return rows, scores["answer_only"]


def score(samples: Sequence[Sample]) -> Scores:
    """The scores of each rule; empty for a rule that cannot be fitted."""
    found: dict[str, dict[str, float]] = {name: {} for name in (*BASELINES, "coherence")}
    for name, baseline in BASELINES.items():
        with suppress(InputError):  # too few documents with each of the labels
            found[name] = _by_id(samples, TrivialBaseline(baseline).p_fail(samples))
    long = [sample for sample in samples if len(parts_of(sample)) > 1]
    labels = Counter(sample.label for sample in long)
    if min(labels[label] for label in Label) >= MIN_PAIRS:
        with suppress(ValueError):  # too few documents with each of the labels
            found["coherence"] = _by_id(long, coherence(long))
    found["rules"] = {
        sample.id: float(label_by_rules(sample) is Label.FAIL) for sample in whole_pairs(samples, JUDGED)
    }
    return found


def _by_id(samples: Sequence[Sample], chances: Sequence[float]) -> dict[str, float]:
    return {sample.id: chance for sample, chance in zip(samples, chances, strict=True)}


def whole_pairs(samples: Sequence[Sample], limit: int) -> list[Sample]:
    """The first ``limit`` samples, and those that complete their pairs."""
    names = {pair_of(sample) for sample in samples[:limit]}
    return [sample for sample in samples if pair_of(sample) in names]


def by_edit_type(samples: Sequence[Sample]) -> list[tuple[str, tuple[str, ...], list[Sample]]]:
    """Pairs by the edit type of the hallucinated sample, the most frequent first; rare types are pooled."""
    pairs = sample_pairs(samples)
    counts = Counter(str(fail.meta.get("edit_type", "")) for _, fail in pairs.values())
    counts.pop("", None)
    named = sorted(counts, key=lambda name: (-counts[name], name))
    groups: list[tuple[str, tuple[str, ...]]] = [
        (name, (name,)) for name in named if counts[name] >= MIN_PAIRS
    ]
    if rare := tuple(name for name in named if counts[name] < MIN_PAIRS):
        groups.append((rare[0] if len(rare) == 1 else OTHERS, rare))
    return [
        (
            name,
            types,
            [one for pair in pairs.values() if pair[1].meta.get("edit_type") in types for one in pair],
        )
        for name, types in groups
    ]


def _row(
    cell: Cell, samples: Sequence[Sample], edit_type: str | None, edit_types: tuple[str, ...], scores: Scores
) -> dict[str, Any]:
    return {
        "source": cell.source,
        "language": cell.language,
        "kind": cell.kind,
        "kinds": list(cell.kinds),
        "edit_type": edit_type,
        "edit_types": list(edit_types),
        "samples": cell.samples if edit_type is None else None,
        "looked_at": len(samples),
        "pairs": len(sample_pairs(samples)),
        "figures": figures(samples, cell.kind, scores),
    }


def figures(samples: Sequence[Sample], kind: str, scores: Scores) -> dict[str, dict[str, Any]]:
    """The figures from scores, with limits and verdicts; skips figures whose samples all have one label."""
    found = {}
    for name, known in scores.items():
        scored = [sample for sample in samples if sample.id in known]
        fail = [sample.label is Label.FAIL for sample in scored]
        if all(fail) or not any(fail):
            continue
        groups, chances = [sample.unit for sample in scored], [known[sample.id] for sample in scored]
        figure = (
            balanced_accuracy(fail, [chance > 0.5 for chance in chances], groups)
            if name == "rules"
            else auroc(fail, chances, groups)
        )
        found[name] = _judged(name, kind, figure, min(sum(fail), len(fail) - sum(fail)), groups)
        pairs = list(sample_pairs(scored).values()) if name == "answer_only" else []
        if pairs:
            ranked = [_in_order(known[faithful.id], known[wrong.id]) for faithful, wrong in pairs]
            groups = [wrong.unit for _, wrong in pairs]
            found["pair"] = _judged("pair", kind, share(ranked, groups), len(pairs), groups)
    return found


def _in_order(faithful: float, hallucinated: float) -> float:
    return 0.5 if faithful == hallucinated else float(hallucinated > faithful)


def _judged(name: str, kind: str, figure: Figure, pairs: int, groups: Sequence[str]) -> dict[str, Any]:
    limit = limit_of(name, kind)
    return {
        **figure.record(),
        "limit": limit,
        "pairs": pairs,
        "verdict": verdict(figure.value, figure.low, limit, pairs, len(set(groups))),
    }


def telling_ngrams(samples: Sequence[Sample]) -> dict[str, list[str]]:
    """For each label, the words (characters in Chinese) and pairs of them most typical of its answers.

    Ranked by the z-score of the difference between the shares of answers that contain one.
    """
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    chinese = sum(sample.language == "zh" for sample in samples) * 2 > len(samples)
    pattern = r"\w|[^\w\s]" if chinese else r"\w+|[^\w\s]"
    counter = CountVectorizer(token_pattern=pattern, ngram_range=(1, 2), min_df=3, binary=True)
    try:
        held = counter.fit_transform([sample.answer for sample in samples])
    except ValueError:  # nothing occurs three times
        return {label.value: [] for label in Label}
    fail = np.array([sample.label is Label.FAIL for sample in samples])
    shares = [np.asarray(held[rows].mean(axis=0)).ravel() for rows in (fail, ~fail)]
    whole = np.clip(np.asarray(held.mean(axis=0)).ravel(), 0, 1)
    spread = np.sqrt(whole * (1 - whole) * (1 / fail.sum() + 1 / (~fail).sum()))
    z = np.divide(shares[0] - shares[1], spread, out=np.zeros_like(whole), where=spread > 0)
    names = [str(name).replace(" ", "" if chinese else " ") for name in counter.get_feature_names_out()]
    order = np.argsort(z, kind="stable")
    return {
        Label.PASS.value: [names[place] for place in order[:NGRAMS] if z[place] < -TELLING],
        Label.FAIL.value: [names[place] for place in order[::-1][:NGRAMS] if z[place] > TELLING],
    }
