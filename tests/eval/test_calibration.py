import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from eval.calibration import COVERAGES, calibration, selective_accuracy
from judge.calibration.reliability import BINS, wilson
from judge.types import Label, Verdict
from tests.made_up import verdict

P, F = Label.PASS, Label.FAIL
pairs = st.lists(st.tuples(st.sampled_from([P, F]), st.floats(0, 1)), min_size=1, max_size=60)


@given(pairs)
def test_bins_agree_with_sklearn(rows: list[tuple[Label, float]]) -> None:
    # sklearn puts a value on an edge into the bin below; values on edges are not what is compared here.
    rows = [(label, value) for label, value in rows if round(value * BINS, 6) % 1]
    if not rows:
        return
    labels, values = [label for label, _ in rows], [value for _, value in rows]
    bins = [part for part in calibration(labels, [verdict(value) for value in values]).bins if part.n]
    shares, means = calibration_curve([label is F for label in labels], values, n_bins=BINS)
    assert [part.share_fail for part in bins] == pytest.approx(list(shares))
    assert [part.p_fail for part in bins] == pytest.approx(list(means))


@given(pairs)
def test_every_probability_is_in_one_bin_and_the_error_is_a_share(rows: list[tuple[Label, float]]) -> None:
    labels, verdicts = [label for label, _ in rows], [verdict(value) for _, value in rows]
    bins = calibration(labels, verdicts).bins
    assert sum(part.n for part in bins) == len(rows) and len(bins) == BINS
    rounding = 1e-9
    assert all(
        part.low - rounding <= part.p_fail <= part.high + rounding for part in bins if part.p_fail is not None
    )
    error = calibration(labels, verdicts).ece
    assert error is not None and 0 <= error <= 1


def test_the_error_by_chance_shrinks_with_samples_and_does_not_look_at_labels() -> None:
    few = [verdict(0.3), verdict(0.7)] * 30
    by_chance = calibration([P] * 60, few).ece_chance
    assert by_chance == calibration([F] * 60, few).ece_chance
    # Two bins of 30: the mean distance of a share of 30 from its probability is 0.8 standard deviations.
    assert by_chance == pytest.approx(0.8 * (0.3 * 0.7 / 30) ** 0.5, rel=0.1)
    assert calibration([P] * 6000, few * 100).ece_chance == pytest.approx(by_chance / 10, rel=0.1)
    assert calibration([P] * 9, [verdict(1.0)] * 9).ece_chance == 0


def test_known_errors() -> None:
    calibrated = [F] * 8 + [P] * 2
    assert calibration(calibrated, [verdict(0.8)] * 10).ece == pytest.approx(0)
    assert calibration([P] * 10, [verdict(1.0)] * 10).ece == 1
    # Two bins: six samples at 0.95, of which three FAIL; four at 0.15, none.
    labels = [F] * 3 + [P] * 7
    verdicts = [verdict(0.95)] * 6 + [verdict(0.15)] * 4
    assert calibration(labels, verdicts).ece == pytest.approx(0.6 * 0.45 + 0.4 * 0.15)


def test_selective_accuracy() -> None:
    values = [0.99, 0.98, 0.97, 0.96, 0.95, 0.6, 0.6, 0.6, 0.6, 0.6]
    labels = [F] * 5 + [F, P, P, P, P]
    found = {step.coverage: step for step in selective_accuracy(labels, [verdict(v) for v in values])}
    assert list(found) == list(COVERAGES)
    assert (found[0.5].accuracy, found[0.5].confidence) == (1, 0.95)
    # One of the five equal ones is right; each counts with their mean.
    assert found[0.6].accuracy == pytest.approx((5 + 0.2) / 6)
    assert found[1.0].accuracy == pytest.approx(0.6) and found[1.0].confidence == 0.6


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(rows: list[tuple[Label, float]], random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, two = (
        [step.accuracy for step in selective_accuracy([a for a, _ in part], [verdict(b) for _, b in part])]
        for part in (rows, mixed)
    )
    assert one == pytest.approx(two)
    right = np.mean([verdict(value).label is label for label, value in rows])
    assert one[-1] == pytest.approx(right)


def test_what_has_no_probability_is_never_confident() -> None:
    labels = [F, F, P, P]
    found = selective_accuracy(labels, [verdict(0.9), verdict(0.8), verdict(None), Verdict(P)])
    by_coverage = {step.coverage: step.accuracy for step in found}
    assert by_coverage[0.5] == 1 and by_coverage[0.8] is None and by_coverage[1.0] is None


def test_confidence_is_that_of_the_label_that_was_given() -> None:
    # A sampled reason may end in the less probable word.
    found = selective_accuracy([P, P], [Verdict(P, 0.9), Verdict(P, 0.2)])
    assert found[0].confidence == pytest.approx(0.8) and found[-1].confidence == pytest.approx(0.1)


def test_nothing_scored() -> None:
    found = calibration([P, F], [Verdict(P), Verdict(None)])
    assert found.n == 0 and found.ece is None
    json.dumps(asdict(found), allow_nan=False)


@given(st.integers(1, 500), st.data())
def test_intervals_hold_their_share(n: int, draw: st.DataObject) -> None:
    hits = draw.draw(st.integers(0, n))
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n + 1e-9 and hits / n - 1e-9 <= high <= 1
    assert low < high
