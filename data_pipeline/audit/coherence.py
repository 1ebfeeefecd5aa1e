"""Can a label be guessed from how the sentences of an answer fit together, without the document?

A sentence from elsewhere may stand out because it shares no word with the rest of the answer; a faithful
answer may stand out because it states a fact twice. A logistic regression gets a few measures of what
sentences share, cross-validated in folds by document.
"""

import re
from collections.abc import Sequence
from itertools import combinations
from math import log

from judge.baselines.overlap import content_tokens, units
from judge.prompting.sentences import sentence_spans
from judge.types import Label, Sample

FOLDS = 5
_NAME = re.compile(r"\d[\d.,]*\d|\d|\b[A-Z][^\W\d_]{3,}")


def parts_of(sample: Sample) -> list[str]:
    """The sentences of an answer."""
    return [sample.answer[span.start : span.end] for span in sentence_spans(sample.answer)]


def features(sample: Sample) -> list[float]:
    """Measures of what an answer's sentences (two or more) share. Document and question are not read."""
    parts = parts_of(sample)
    words = [content_tokens(units(part, sample.language), sample.language) for part in parts]
    facts = [set(_NAME.findall(part)) for part in parts]
    shared = [_jaccard(one, two) for one, two in combinations(words, 2)]
    named = [_jaccard(one, two) for one, two in combinations(facts, 2)]
    first, last = set().union(*words[:-1]), set().union(*words[1:])
    named_first = set().union(*facts[:-1])
    return [
        max(shared), min(shared), sum(shared) / len(shared),
        max(named), min(named),
        _held(words[-1], first), _held(words[0], last), _held(facts[-1], named_first),
        float(len(facts[-1] & named_first)),
        float(len(words[-1] & first)),
        log((1 + len(parts[-1])) / (1 + len(parts[0]))),
    ]  # fmt: skip


def coherence(samples: Sequence[Sample]) -> list[float]:
    """The probability of FAIL of each sample, out of fold.

    Raises:
        ValueError: there are too few documents of one of the labels.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    chances = cross_val_predict(
        make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)),
        np.array([features(sample) for sample in samples]),
        np.array([sample.label is Label.FAIL for sample in samples], dtype=int),
        groups=[sample.unit for sample in samples],
        cv=StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0),
        method="predict_proba",
    )
    return [float(chance) for chance in chances[:, 1]]


def _jaccard(one: set[str], two: set[str]) -> float:
    return len(one & two) / len(one | two) if one or two else 0.0


def _held(part: set[str], rest: set[str]) -> float:
    return len(part & rest) / len(part) if part else 0.0
