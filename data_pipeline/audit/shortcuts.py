"""Could a judge learn the labels without reading? The trivial rules of :mod:`judge.floors.rules`, by source.

Each rule is fitted and scored in folds that are parted by document, so twins never part. That matters: a rule
that memorises answers and meets the twin of one it has seen would score *below* chance, and hide a give-away.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from judge.errors import InputError
from judge.floors.rules import Floor
from judge.types import Label, Sample

RULES = ("answer-only", "length", "overlap")
LIMITS = {"answer-only": 0.60, "length": 0.55, "overlap": 0.90}
"""AUROC above which a rule gives the labels away. Looking words up is part of judging; where it is nearly all
that is needed, a judge learns no more."""
NGRAMS, TELLING = 8, 4.0
"""So many telling words are named for each label, from this z-score on: thousands are compared."""


def shortcuts(samples: Sequence[Sample]) -> tuple[dict[str, Any], dict[str, float]]:
    """What the rules reach on samples of one source.

    Returns:
        For each rule its cross-validated AUROC (``None`` where it cannot be fitted; ``reason`` says why), and
        the answers' telling words; and the answer-only rule's probability of FAIL for each sample's id.
    """
    labelled = [sample for sample in samples if sample.label is not None]
    found: dict[str, Any] = {"fitted_on": len(labelled)}
    scores: dict[str, float] = {}
    for rule in RULES:
        try:
            chances = Floor(f"floor:{rule}").p_fail(labelled)
        except InputError:
            reason = "too few documents with each of the two labels"
            return {**found, **dict.fromkeys(RULES), "reason": reason, "ngrams": {}}, {}
        found[rule] = round(auroc(labelled, chances), 4)
        if rule == "answer-only":
            scores = {sample.id: chance for sample, chance in zip(labelled, chances, strict=True)}
    return {**found, "ngrams": telling_ngrams(labelled)}, scores


def auroc(samples: Sequence[Sample], chances: Sequence[float]) -> float:
    """The area under the ROC curve of probabilities of FAIL."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score([sample.label is Label.FAIL for sample in samples], chances))


def told_from_twin(samples: Sequence[Sample], scores: Mapping[str, float]) -> dict[str, float]:
    """For each edit type, the share of pairs whose hallucinated twin scores higher; a half is chance."""
    faithful = {
        sample.meta["pair"]: scores[sample.id]
        for sample in samples
        if sample.label is Label.PASS and "pair" in sample.meta and sample.id in scores
    }
    wins: dict[str, list[float]] = {}
    for sample in samples:
        pair = sample.meta.get("pair")
        if sample.label is Label.FAIL and pair in faithful and sample.id in scores:
            one, two = scores[sample.id], faithful[pair]
            kind = str(sample.meta.get("edit_type", ""))
            wins.setdefault(kind, []).append(0.5 if one == two else float(one > two))
    return {kind: round(sum(won) / len(won), 4) for kind, won in wins.items()}


def telling_ngrams(samples: Sequence[Sample]) -> dict[str, list[str]]:
    """For each label, the words (characters in Chinese) and pairs of them that most set its answers apart.

    By the z-score of the difference between the shares of answers that hold one.
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
