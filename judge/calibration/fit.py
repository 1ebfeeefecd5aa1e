"""Fitting a calibration curve and thresholds to labelled samples; see :mod:`judge.calibration.curve`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.calibration.curve import Calibration, Curve, Method, Target, Threshold, log_odds
from judge.calibration.reliability import calibration_error
from judge.errors import InputError, JudgeError, counted

FOLDS = 5
FEWEST, DOCUMENTS = 20, 10
"""Fewest samples of each label, and fewest documents they are about, that :func:`check_enough` accepts."""
SEED = 0
_FLATTEST = 1e-3
"""Minimum slope: a curve never falls, and with this slope it is practically level."""
_LEVEL = 0.02
"""If a curve rises less than this from probability 0 to 1, the judge cannot tell the labels apart."""


def fit_curve(method: Method, p_fail: Sequence[float], fails: Sequence[bool]) -> Curve:
    """Fit a curve to raw probabilities of FAIL and the true labels; both labels must occur.

    If the probability does not rise with FAIL, the curve is level or practically level.
    """
    import numpy as np

    truth = np.array(fails, dtype=np.float64)
    n_fail, n = int(truth.sum()), len(truth)
    if method == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        # Rule of succession at both ends: n samples never make a probability of 0 or 1.
        model = IsotonicRegression(y_min=1 / (n + 2), y_max=1 - 1 / (n + 2), out_of_bounds="clip")
        model.fit(np.array(p_fail), truth)
        points = zip(model.X_thresholds_.tolist(), model.y_thresholds_.tolist(), strict=True)
        return Curve(method=method, points=tuple(points))

    from sklearn.linear_model import LogisticRegression

    # Platt's targets are a little short of 0 and 1, so that the slope stays finite on separable samples.
    targets = np.where(truth == 1, (n_fail + 1) / (n_fail + 2), 1 / (n - n_fail + 2))
    odds = np.array([[log_odds(p)] for p in p_fail])
    model = LogisticRegression(C=np.inf, fit_intercept=method == "platt", max_iter=1000)
    model.fit(np.vstack([odds, odds]), np.repeat([1, 0], n), np.concatenate([targets, 1 - targets]))
    slope, bias = float(model.coef_[0, 0]), 0.0
    if method == "platt":
        share = float(targets.mean())
        bias = float(model.intercept_[0]) if slope > _FLATTEST else log_odds(share)
    return Curve(method=method, temperature=1 / max(slope, _FLATTEST), bias=bias)


def cross_fitted(
    method: Method, p_fail: Sequence[float], fails: Sequence[bool], groups: Sequence[str]
) -> list[float]:
    """Out-of-fold calibrated probabilities: each by a curve fitted without the sample's own group.

    Raises:
        InputError: if either label occurs in fewer than :data:`FOLDS` groups.
    """
    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold

    for word, wanted in (("FAIL", True), ("PASS", False)):
        held = len({group for group, fail in zip(groups, fails, strict=True) if fail is wanted})
        if held < FOLDS:
            raise InputError(f"{held} documents have a {word} sample; calibration needs {FOLDS} or more")
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    splitter = StratifiedGroupKFold(n_splits=FOLDS, shuffle=True, random_state=SEED)
    found = np.zeros(len(p_fail))
    for fitted, held_out in splitter.split(np.array(p_fail), fails, [numbers[group] for group in groups]):
        curve = fit_curve(method, [p_fail[row] for row in fitted], [fails[row] for row in fitted])
        found[held_out] = [curve(p_fail[row]) for row in held_out]
    return [float(value) for value in found]


def check_enough(fails: Sequence[bool], groups: Sequence[str], file: Path | None = None) -> None:
    """Raise ``InputError`` if there are too few samples for thresholds that hold on other data."""
    found = {
        word: [group for group, fail in zip(groups, fails, strict=True) if fail is wanted]
        for word, wanted in (("FAIL", True), ("PASS", False))
    }
    if any(len(of) < FEWEST or len(set(of)) < DOCUMENTS for of in found.values()):
        counts = " and ".join(f"{len(of)} {word} about {len(set(of))}" for word, of in found.items())
        raise InputError(
            f"holds {counts} documents; calibration needs {FEWEST} of each, about {DOCUMENTS} documents "
            "each: label more answers",
            file=file,
        )


@contextmanager
def blaming_the_unread(file: Path, errors: Sequence[str | None]) -> Iterator[None]:
    """In the block, ``InputError`` also tells of the samples that got no probability (``errors``)."""
    try:
        yield
    except InputError as error:
        if not errors:
            raise
        why = errors[0] or "one of its sentences got none"
        message = f"{counted(len(errors), 'sample')} got no probability (the first: {why}); {error.found}"
        raise InputError(message, file=file) from None


def find_threshold(
    target: Target, wanted: float, p_fail: Sequence[float], fails: Sequence[bool]
) -> Threshold | None:
    """The threshold that reaches a precision or recall of FAIL and loses least of the other.

    It lies midway between two observed probabilities. ``None`` if no threshold reaches it.
    """
    from sklearn.metrics import precision_recall_curve

    precision, recall, observed = (values.tolist() for values in precision_recall_curve(fails, p_fail))
    found = [
        Threshold(wanted=wanted, threshold=(p + below) / 2, precision=precise, recall=recalled)
        for p, below, precise, recalled in zip(observed, [0.0, *observed], precision, recall, strict=False)
    ]
    found.reverse()  # of equally good ones, the highest
    if target == "precision":
        reached = [item for item in found if item.precision >= wanted]
        return max(reached, key=lambda item: item.recall, default=None)
    reached = [item for item in found if item.recall >= wanted]
    return max(reached, key=lambda item: item.precision, default=None)


def fit_calibration(
    method: Method,
    p_fail: Sequence[float],
    fails: Sequence[bool],
    groups: Sequence[str],
    wanted: Mapping[Target, float],
    **of: Any,
) -> tuple[Calibration, list[float]]:
    """Fit everything that ``judge.json`` stores about a calibration.

    Args:
        method: the kind of curve.
        p_fail: raw probabilities of FAIL.
        fails: whether it was FAIL.
        groups: the document of each sample.
        wanted: the precision and the recall of FAIL to find thresholds for.
        of: what it is fitted for: ``prompt_hash`` of the judge's prompt, ``data_sha256`` of the file of
            samples, ``precision`` that the judge computed in and ``quantization`` of its weights; see
            :func:`judge.calibration.curve.fitted_for`.

    Returns:
        The calibration, and the out-of-fold calibrated probabilities behind its ``ece_after``.

    Raises:
        InputError: if either label occurs in fewer than :data:`FOLDS` groups.
        JudgeError: if the probability does not rise with FAIL, so no curve can help.
    """
    held_out = cross_fitted(method, p_fail, fails, groups)
    curve = fit_curve(method, p_fail, fails)
    if curve(1.0) - curve(0.0) < _LEVEL:
        raise JudgeError(
            "the judge's probability of FAIL does not rise with FAIL on these samples; no calibration helps "
            "a judge that cannot tell them apart"
        )
    final = [curve(p) for p in p_fail]
    found = {target: find_threshold(target, rate, final, fails) for target, rate in wanted.items()}
    calibration = Calibration(
        curve=curve,
        thresholds={target: threshold for target, threshold in found.items() if threshold is not None},
        **of,
        samples=len(p_fail),
        fail=sum(fails),
        groups=len(set(groups)),
        ece_before=calibration_error(p_fail, fails) or 0.0,
        ece_after=calibration_error(held_out, fails) or 0.0,
    )
    return calibration, held_out
