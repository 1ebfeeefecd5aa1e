"""Baselines: trivial rules that judge without understanding; a judge that does not beat them learned nothing.

Two are constant. Three are logistic regressions on what should not matter: the length of the answer, its
word overlap with the document, and the wording of the answer alone. They are fitted on the caller's samples,
or else out of fold on the labelled samples being judged, with folds split by group, so that no sample is ever
judged by a rule fitted on its own document.
"""

import math
import random
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from judge.baselines.overlap import overlap
from judge.checker import Checker
from judge.errors import InputError, counted, unknown
from judge.types import Label, Mode, Sample, Verdict

TRIVIAL_BASELINES = (
    "baseline:always-pass",
    "baseline:always-fail",
    "baseline:length",
    "baseline:overlap",
    "baseline:answer-only",
)
CONSTANT = {"baseline:always-pass": 0.0, "baseline:always-fail": 1.0}
RANDOM = "baseline:random"
"""A coin toss per sample, seeded by its id: the baseline ``Random`` of DiaHalu (section 5.1)."""
FOLDS = 5
SEED = 0
MIN_DF = 2
"""An n-gram counts if it occurs in at least this many of the answers that a rule is fitted on."""
_REMEDY = "use labelled samples of both classes, or give judge eval some with --set baseline_data=FILE"


def _targets(samples: Sequence[Sample]) -> Any:
    """1 for FAIL, 0 for PASS, 2 if the label is not known."""
    import numpy as np

    codes: dict[Label | None, int] = {Label.FAIL: 1, Label.PASS: 0, None: 2}
    return np.array([codes[sample.label] for sample in samples], dtype=np.int64)


def _features(name: str, samples: Sequence[Sample]) -> Any:
    """The feature matrix of a rule, one row per sample; n-gram counts are sparse. Labels are never used."""
    import numpy as np

    if name == "baseline:length":
        lengths = [len(sample.answer) for sample in samples]
        return np.array([[length, math.log(length + 1)] for length in lengths], dtype=np.float64)
    if name == "baseline:overlap":
        return np.array([overlap(sample) for sample in samples], dtype=np.float64)
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(analyzer="char", ngram_range=(1, 4), dtype=np.float32)
    return counter.fit_transform([sample.answer for sample in samples]).tocsr()


def _fit_predict(name: str, features: Any, targets: Any, fitted: Any, judged: Any) -> Any:
    """Fit on the rows ``fitted``, return the probability of FAIL of the rows ``judged``."""
    import numpy as np
    from sklearn import config_context
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "baseline:answer-only":
        # Only n-grams of the fitted rows are in the vocabulary, as if the others had never been seen.
        frequency = np.bincount(features[fitted].indices, minlength=features.shape[1])
        frequent = np.flatnonzero(frequency >= MIN_DF)
        features = features[:, frequent if len(frequent) else np.flatnonzero(frequency)]
        classifier = LogisticRegression(class_weight="balanced", solver="liblinear", random_state=SEED)
        model = make_pipeline(TfidfTransformer(sublinear_tf=True), classifier)
    else:
        model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    with config_context(assume_finite=True, skip_parameter_validation=True):  # the values are our own
        model.fit(features[fitted], targets[fitted])
        return model.predict_proba(features[judged])[:, 1]


@lru_cache(maxsize=1)
def _folds(codes: tuple[int, ...], groups: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """Rows to fit on (always both classes) and to judge, split by group; fewer folds if necessary.

    Cached, since several rules are fitted on the same samples one after the other.
    """
    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold

    targets = np.array(codes, dtype=np.int64)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    names = np.array([numbers[name] for name in groups], dtype=np.int64)
    most = min(FOLDS, *(len(np.unique(names[targets == code])) for code in (0, 1)))
    for count in range(most, 1, -1):
        splitter = StratifiedGroupKFold(n_splits=count, shuffle=True, random_state=SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unlabelled rows may be fewer than the folds
            pairs = list(splitter.split(targets, targets, names))
        folds = [(fitted[targets[fitted] < 2], judged) for fitted, judged in pairs]
        if all(len(np.unique(targets[fitted])) == 2 for fitted, _ in folds):
            return folds
    return []


class TrivialBaseline(Checker):
    """One trivial rule as a judge.

    Args:
        name: one of :data:`TRIVIAL_BASELINES`, or :data:`RANDOM`.
        train: labelled samples to fit on; those about a judged document are left out of the fit.
            ``None`` fits out of fold on the judged samples.

    Raises:
        InputError: if the name is unknown, or ``train`` lacks a label.
    """

    name = ""
    mode: Mode = "verdict"
    chunk = 0  # all samples together, since a fitted rule learns from them

    def __init__(self, name: str, train: Sequence[Sample] | None = None):
        if name not in (*TRIVIAL_BASELINES, RANDOM):
            raise InputError(unknown("baseline", name, (*TRIVIAL_BASELINES, RANDOM)))
        self.name = name
        self._train = None if train is None else [sample for sample in train if sample.label is not None]
        if self._train is not None and len({sample.label for sample in self._train}) < 2:
            raise InputError(
                f"{name} cannot be fitted: the samples to fit on have not both labels; {_REMEDY}"
            )

    def describe(self) -> dict[str, Any]:
        """Name, kind and what the rule is fitted on."""
        if self.name in CONSTANT:
            return {"model": self.name, "backend": "constant"}
        if self.name == RANDOM:
            return {"model": self.name, "backend": "random", "seed": SEED}
        fitted_on: dict[str, Any] = {"folds": FOLDS, "seed": SEED, "by": "group"}
        if self._train is not None:
            fitted_on = {"samples": len(self._train)}
        return {"model": self.name, "backend": "logistic regression", "fitted_on": fitted_on}

    def p_fail(self, samples: Sequence[Sample]) -> list[float]:
        """The probability of FAIL of each sample.

        Raises:
            InputError: if the rule cannot be fitted because labels or a class are missing.
        """
        if self.name in CONSTANT:
            return [CONSTANT[self.name]] * len(samples)
        if self.name == RANDOM:
            return [random.Random(f"{SEED}:{sample.id}").random() for sample in samples]
        if not samples:
            return []
        if self._train is not None:
            return self._by_train(samples, self._train)
        return self._out_of_fold(samples)

    def _by_train(self, samples: Sequence[Sample], train: Sequence[Sample]) -> list[float]:
        import numpy as np

        known = {sample.unit for sample in samples} | {sample.document_text for sample in samples}
        apart = [item for item in train if item.unit not in known and item.document_text not in known]
        if len({sample.label for sample in apart}) < 2:
            raise InputError(
                f"{self.name} cannot be fitted: without the {len(train) - len(apart)} samples about judged "
                f"documents, the {len(apart)} left to fit on have not both labels; {_REMEDY}"
            )
        both = [*apart, *samples]
        rows = np.arange(len(both))
        fitted, judged = rows[: len(apart)], rows[len(apart) :]
        features = _features(self.name, both)
        return _fit_predict(self.name, features, _targets(both), fitted, judged).tolist()

    def _out_of_fold(self, samples: Sequence[Sample]) -> list[float]:
        import numpy as np

        targets = _targets(samples)
        folds = _folds(tuple(targets.tolist()), tuple(sample.unit for sample in samples))
        if not folds:
            counts = {label.value: sum(sample.label is label for sample in samples) for label in Label}
            raise InputError(
                f"{self.name} cannot be fitted out of fold: {counted(len(samples), 'sample')}, of these "
                f"{counts['PASS']} PASS and {counts['FAIL']} FAIL, with too few documents of each; {_REMEDY}"
            )
        features = _features(self.name, samples)
        scores = np.zeros(len(samples))
        for fitted, judged in folds:
            scores[judged] = _fit_predict(self.name, features, targets, fitted, judged)
        return scores.tolist()

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """FAIL at or above a probability of 0.5."""
        for score in self.p_fail(samples):
            yield Verdict(label=Label.FAIL if score >= 0.5 else Label.PASS, p_fail=score)
