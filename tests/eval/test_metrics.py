import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, precision_recall_fscore_support, roc_auc_score

from eval.metrics import score
from judge.errors import InputError, JudgeError
from judge.types import Label, Sample, Usage, Verdict
from tests.made_up import verdict

P, F = Label.PASS, Label.FAIL


def sample(number: int, label: Label | None, group: str = "", source: str = "s") -> Sample:
    return Sample(
        id=str(number), document="d", answer="a", label=label, group=group or str(number), source=source
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10)), min_size=2, max_size=40))
def test_agrees_with_sklearn(rows: list[tuple[bool, int]]) -> None:
    gold = [fail for fail, _ in rows]
    scores = [value / 10 for _, value in rows]
    metrics = score(
        [sample(number, F if fail else P) for number, fail in enumerate(gold)],
        [verdict(value) for value in scores],
        bootstrap=0,
    )
    said = [value >= 0.5 for value in scores]
    assert metrics.accuracy == pytest.approx(np.mean(np.equal(gold, said)))
    precision, recall, f1, _ = precision_recall_fscore_support(
        gold, said, average="binary", zero_division=np.nan
    )
    for ours, theirs in ((metrics.precision, precision), (metrics.recall, recall), (metrics.f1, f1)):
        assert (ours is None and np.isnan(theirs)) or ours == pytest.approx(theirs)
    if len(set(gold)) == 2:
        assert metrics.balanced_accuracy == pytest.approx(balanced_accuracy_score(gold, said))
        assert metrics.auroc == pytest.approx(roc_auc_score(gold, scores))
    else:
        assert metrics.balanced_accuracy is None and metrics.auroc is None


def test_three_readings() -> None:
    samples = [sample(number, F if number < 2 else P) for number in range(6)]
    verdicts = [Verdict(F), Verdict(None), Verdict(P), Verdict(P), Verdict(F), Verdict(None)]
    metrics = score(samples, verdicts, bootstrap=0)
    assert (metrics.coverage, metrics.parsed) == (pytest.approx(4 / 6), 4)
    assert metrics.accuracy == pytest.approx(3 / 6) and metrics.accuracy_answered == pytest.approx(3 / 4)
    assert metrics.balanced_accuracy == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert metrics.balanced_accuracy_answered == pytest.approx((1 + 2 / 3) / 2)
    assert (metrics.f1, metrics.f1_answered) == (pytest.approx(1 / 2), pytest.approx(2 / 3))


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([F, P, None])), min_size=1, max_size=30))
def test_strict_is_answered_only_times_coverage(rows: list[tuple[bool, Label | None]]) -> None:
    samples = [sample(number, F if fail else P) for number, (fail, _) in enumerate(rows)]
    metrics = score(samples, [Verdict(label) for _, label in rows], bootstrap=0)
    assert metrics.accuracy == pytest.approx((metrics.accuracy_answered or 0) * metrics.coverage)


def test_auroc_is_over_the_scored_and_everything_is_counted() -> None:
    samples = [sample(0, F), sample(1, P), sample(2, F)]
    told = Verdict(P, truncated=True, cut_chars=7, usage=Usage(10, 2))
    metrics = score(samples, [verdict(0.9), replace(verdict(0.2), usage=Usage(5, 7)), told], bootstrap=0)
    assert (metrics.auroc, metrics.scored) == (1.0, 2)
    assert (metrics.n, metrics.n_pass, metrics.n_fail, metrics.truncated, metrics.cut) == (3, 1, 2, 1, 1)
    assert (metrics.prompt_tokens, metrics.completion_tokens) == (15, 9)


def test_one_class_gives_none_and_no_nan() -> None:
    metrics = score([sample(0, P), sample(1, P)], [verdict(0.1), verdict(0.2)])
    assert metrics.balanced_accuracy is metrics.recall is metrics.auroc is metrics.auroc_ci is None
    json.dumps(asdict(metrics), allow_nan=False)


def test_interval_agrees_with_a_plain_bootstrap() -> None:
    random = np.random.default_rng(1)
    gold = random.random(300) < 0.4
    scores = np.clip(gold * 0.3 + random.random(300) * 0.7, 0, 1).round(2)
    samples = [sample(number, F if fail else P) for number, fail in enumerate(gold)]
    metrics = score(samples, [verdict(value) for value in scores], bootstrap=2000)
    drawn = []
    for rows in random.integers(0, 300, (2000, 300)):
        fails = int(gold[rows].sum())
        ranks = rankdata(scores[rows])[gold[rows]].sum() - fails * (fails + 1) / 2
        drawn.append(ranks / (fails * (300 - fails)))  # Mann and Whitney's U, which is quick
    assert metrics.auroc_ci == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])), abs=0.01)
    assert metrics == score(samples, [verdict(value) for value in scores], bootstrap=2000)


def test_groups_are_resampled_whole() -> None:
    random = np.random.default_rng(0)
    right = np.repeat(random.random(30) < 0.7, 20)
    verdicts = [verdict(0.1 if item else 0.9) for item in right]
    labels = [P if number % 40 < 39 else F for number in range(600)]
    apart = score([sample(number, label) for number, label in enumerate(labels)], verdicts)
    grouped = score(
        [sample(number, label, f"g{number // 20}") for number, label in enumerate(labels)], verdicts
    )
    assert apart.accuracy_ci and grouped.accuracy_ci
    assert grouped.accuracy == apart.accuracy
    wide, narrow = np.diff(grouped.accuracy_ci)[0], np.diff(apart.accuracy_ci)[0]
    assert wide > 3 * narrow
    one = score([sample(number, label, "g") for number, label in enumerate(labels)], verdicts)
    assert one.accuracy_ci is None  # one document says nothing about others


def test_bad_input() -> None:
    with pytest.raises(InputError, match="no sample"):
        score([], [])
    with pytest.raises(InputError, match="'5' has no gold label"):
        score([sample(5, None)], [verdict(0.1)])
    with pytest.raises(JudgeError, match="1 verdict for 2 samples"):
        score([sample(0, P), sample(1, F)], [verdict(0.1)])
