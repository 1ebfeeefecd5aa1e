import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from eval.cascade import cascade_curves
from eval.compare import compare_command as compare_command_app
from eval.comparison import Comparison, Resampled, compare, compare_results, mcnemar
from eval.metrics import score
from eval.verdicts import row_from_verdict
from judge.errors import InputError
from judge.files import write_jsonl
from judge.types import Label, Sample, Verdict
from tests.calling import invoke
from tests.made_up import verdict

P, F = Label.PASS, Label.FAIL


def samples(count: int) -> list[Sample]:
    return [
        Sample(
            id=str(number), document=f"d{number}", answer="a", label=F if number % 2 else P, group=str(number)
        )
        for number in range(count)
    ]


def compared(items: list[Sample], one: list[Verdict], two: list[Verdict], bootstrap: int) -> Comparison:
    labels, groups = [item.label for item in items if item.label], [item.group for item in items]
    return compare("b", *(Resampled(labels, groups, verdicts, bootstrap) for verdicts in (one, two)))


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_the_two_sided_binomial_test(one: int, two: int) -> None:
    decided = one + two
    tail = 2 * binom.cdf(min(one, two), decided, 0.5) if decided else 1.0
    assert mcnemar(one, two) == pytest.approx(min(1.0, tail))
    assert mcnemar(one, two) == mcnemar(two, one)


def test_a_better_judge() -> None:
    random = np.random.default_rng(0)
    items = samples(300)
    good = [verdict(0.9 if (item.label is F) == (random.random() < 0.9) else 0.1) for item in items]
    bad = [verdict(0.9 if (item.label is F) == (random.random() < 0.6) else 0.1) for item in items]
    found = compared(items, good, bad, bootstrap=400)
    assert found.p_value < 1e-4
    assert found.both_right + found.only_first_right + found.only_second_right + found.both_wrong == found.n
    for row, name in zip(found.differences, ("accuracy", "balanced_accuracy", "auroc"), strict=True):
        assert row.figure == name and row.interval is not None and row.difference is not None
        assert 0 < row.interval[0] < row.difference < row.interval[1]
        assert row.first == getattr(score(items, good, bootstrap=0), name)
    reverse = compared(items, bad, good, bootstrap=400)
    first, again = found.differences[0].interval, reverse.differences[0].interval
    assert first and again == pytest.approx((-first[1], -first[0]))


def test_pairing_narrows_the_interval() -> None:
    """Judges that err on the same samples differ by less than their own intervals suggest."""
    random = np.random.default_rng(0)
    items = samples(400)
    right = random.random(400) < 0.7
    one = [
        verdict(0.9 if (item.label is F) == bool(ok) else 0.1) for item, ok in zip(items, right, strict=True)
    ]
    two = [*one[:-4], *(verdict(1 - (item.p_fail or 0)) for item in one[-4:])]
    found = compared(items, one, two, bootstrap=400).differences[0]
    own = score(items, one, bootstrap=400).accuracy_ci
    assert found.interval and own
    assert found.interval[1] - found.interval[0] < (own[1] - own[0]) / 2


def test_unparsed_is_wrong_and_auroc_is_over_what_both_scored() -> None:
    items = samples(4)
    one = [verdict(0.1), verdict(0.9), verdict(0.2), verdict(0.8)]
    two = [verdict(0.1), verdict(0.9), Verdict(None), Verdict(F)]
    found = compared(items, one, two, bootstrap=0)
    assert (found.only_first_right, found.only_second_right) == (1, 0)
    assert found.differences[2].second == 1.0 and found.differences[2].interval is None


def write(folder: Path, items: list[Sample], verdicts: list[Verdict], benchmark: str = "b") -> Path:
    folder.mkdir()
    rows = [row_from_verdict(benchmark, *pair) for pair in zip(items, verdicts, strict=True)]
    rows.append(row_from_verdict(benchmark, items[0], Verdict(None), run=1))  # the first run counts
    write_jsonl(folder / "verdicts.jsonl", rows)
    (folder / "report.json").write_text('{"reports": []}')
    return folder


def test_results_are_matched_by_sample(tmp_path: Path) -> None:
    items = samples(10)
    verdicts = [verdict(0.9)] * 5 + [verdict(0.1)] * 5
    one = write(tmp_path / "one", items, verdicts)
    two = write(tmp_path / "two", items[::-1], verdicts[::-1])
    (found,) = compare_results(one / "report.json", two, bootstrap=20)
    assert (found.benchmark, found.n) == ("b", 10)
    assert found.only_first_right == found.only_second_right == 0


def test_results_that_cannot_be_compared(tmp_path: Path) -> None:
    items = samples(10)
    one = write(tmp_path / "one", items, [verdict(0.9)] * 10)
    with pytest.raises(InputError, match=r"b: 4 samples were judged in only one.*same samples"):
        compare_results(one, write(tmp_path / "fewer", items[:6], [verdict(0.9)] * 6))
    corrected = [replace(items[0], label=F if items[0].label is P else P), *items[1:]]
    with pytest.raises(InputError, match=r"b: 1 sample had another label or text in .*/new, such as '"):
        compare_results(one, write(tmp_path / "new", corrected, [verdict(0.9)] * 10))
    with pytest.raises(InputError, match=r"/one: .*no benchmark in common with .*/other \(b here, c there\)"):
        compare_results(one, write(tmp_path / "other", items, [verdict(0.9)] * 10, "c"))
    with pytest.raises(InputError, match=r"nowhere/report\.json: .*is the run finished"):
        compare_results(one, tmp_path / "nowhere")
    (tmp_path / "other" / "verdicts.jsonl").write_text('{"benchmark": "b"}\n')
    with pytest.raises(InputError, match=r"verdicts\.jsonl:1: is not a verdict"):
        compare_results(one, tmp_path / "other")
    (one / "report.json").unlink()
    with pytest.raises(InputError, match=r"one/report\.json: .*is the run finished"):
        compare_results(one, one)


def test_a_cascade_is_put_together_from_two_results(tmp_path: Path) -> None:
    """Half of the answers are doubted, and the second judge has all of these right."""
    items = samples(40)
    right = [verdict(0.95 if item.label is F else 0.05) for item in items]
    doubted = [
        verdict(0.45 if item.label is F else 0.55) if place % 4 < 2 else sure
        for place, (item, sure) in enumerate(zip(items, right, strict=True))
    ]
    folders = write(tmp_path / "one", items, doubted), write(tmp_path / "two", items, right)
    (curve,) = cascade_curves(*folders, bootstrap=20)
    assert [step.sure for step in curve.steps] == [0.5, 0.55, 0.95, 1.0, None]
    assert [step.passed_on for step in curve.steps] == [0, 0, 0.5, 1, 1]
    assert [step.balanced_accuracy for step in curve.steps] == [0.5, 0.5, 1, 1, 1]
    assert curve.steps[0].auroc and curve.steps[0].auroc < curve.steps[2].auroc == 1.0
    result = invoke(compare_command_app, *folders, "--cascade", "--json", "--bootstrap", "0")
    (told,) = json.loads(result.stdout)
    assert [step["sure"] for step in told["steps"]] == [step.sure for step in curve.steps]
    spread = [verdict(0.5 + 0.4 * place / 40) for place in range(40)]
    (shares,) = cascade_curves(write(tmp_path / "spread", items, spread), folders[1], bootstrap=0)
    assert [step.passed_on for step in shares.steps] == pytest.approx([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 1])
    shown = invoke(compare_command_app, *folders, "--cascade")
    assert "passed" in shown.stdout and "second alone" in shown.stdout
    for more in ((), ("--cascade",)):
        plain = invoke(compare_command_app, *folders, *more, "--bootstrap", "0").stdout
        assert "95 %" in invoke(compare_command_app, *folders, *more).stdout and "95 %" not in plain
    (both,) = cascade_curves(*folders, first_weight=1.0, bootstrap=0)
    assert [step.balanced_accuracy for step in both.steps] == [0.5, 0.5, 0.5, 0.5, 1], "the first decides"
    told_as = {"benchmarks": {"b": {"judge": {"threshold": 0.99}}}}
    (folders[1] / "run.json").write_text(json.dumps(told_as))  # the second judge's own threshold holds
    reports = [folder / "report.json" for folder in folders]
    assert cascade_curves(*reports, bootstrap=0) == cascade_curves(*folders, bootstrap=0)
    (both,) = cascade_curves(*folders, first_weight=0.5, bootstrap=0)
    assert [step.balanced_accuracy for step in both.steps[-2:]] == [0.5, 1]
    with pytest.raises(InputError, match="--cascade"):
        invoke(compare_command_app, *folders, "--cascade-weight", "0.5")
