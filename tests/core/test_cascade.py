"""Two judges in a row: what the first is sure of stands, the rest is judged again, in order."""

from contextlib import nullcontext
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.cascade import CascadeJudge, pooled
from judge.errors import InputError
from judge.load import load_judge
from judge.types import Label, Sample, Unsupported, Verdict
from tests.calling import call
from tests.made_up import verdict
from tests.scripted import Scripted


def told(verdicts: dict[str, Verdict]) -> Scripted:
    """A judge that finds a sample's verdict under its id."""
    return Scripted(lambda one: verdicts[one.id])


def sample(name: str) -> Sample:
    return Sample(id=name, document="The tower is 40 m high.", answer="It is high.")


@given(st.lists(st.floats(0, 1), max_size=20), st.sampled_from([0.5, 0.7, 0.9, 1.0]))
def test_doubts_are_judged_again(chances: list[float], sure: float) -> None:
    samples = [sample(str(place)) for place in range(len(chances))]
    first = told({one.id: verdict(chance) for one, chance in zip(samples, chances, strict=True)})
    second = Scripted(lambda _: verdict(0.25, reasoning="looked"))
    second.chunk = 3
    judge = CascadeJudge(first, second, sure)
    found = judge.check(samples)
    stands = [max(chance, 1 - chance) >= sure for chance in chances]
    assert [one.reasoning is None for one in found] == stands
    assert [one.p_fail for one in found] == [
        chance if stand else 0.25 for chance, stand in zip(chances, stands, strict=True)
    ]
    assert [*chain(*second.asked)] == [one for one, stand in zip(samples, stands, strict=True) if not stand]
    assert all(0 < len(some) <= 3 for some in second.asked) and all(len(some) <= 4 for some in first.asked)


@pytest.mark.parametrize(
    "first",
    [
        Verdict(None, error="does not read language 'zh'"),
        verdict(0.01, cut_chars=9),
        Verdict(Label.PASS),
        Verdict(Label.FAIL, 0.15),  # by a threshold below one half: likelier wrong than right
    ],
)
def test_what_the_first_did_not_read_whole_or_doubts_passes_on(first: Verdict) -> None:
    judge = CascadeJudge(told({"a": first}), told({"a": verdict(0.75)}), sure=0.8)
    assert judge.check([sample("a")]) == [verdict(0.75)]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_pool_lies_between_and_knows_no_order(one: float, two: float, weight: float) -> None:
    first, second = verdict(one), verdict(two)
    found = pooled(first, second, weight)
    assert min(one, two) - 1e-5 <= (found.p_fail or 0) <= max(one, two) + 1e-5
    assert found.label is (Label.FAIL if (found.p_fail or 0) >= 0.5 else Label.PASS)
    assert pooled(second, first, 1 - weight).p_fail == pytest.approx(found.p_fail, abs=1e-5)
    assert pooled(first, second, 0) is second
    assert pooled(first, second, 0.5, threshold=1.01).label is Label.PASS


def test_what_cannot_be_pooled_is_the_second_judges() -> None:
    second = verdict(0.75)
    for first in (Verdict(None, error="unread"), Verdict(Label.PASS), verdict(0.01, cut_chars=9)):
        assert pooled(first, second, 0.5) is second
    marked = verdict(0.9, unsupported=(Unsupported("It", 0, 2),))
    assert pooled(marked, second, 0.5).unsupported == (Unsupported("It", 0, 2),)
    assert pooled(marked, verdict(0.01), 0.5).unsupported == ()


def test_what_the_first_doubts_is_judged_by_both() -> None:
    first, second = (
        told({"a": verdict(0.6), "b": verdict(0.99)}),
        told({"a": verdict(0.2), "b": verdict(0.2)}),
    )
    judge = CascadeJudge(first, second, 0.8, first_weight=0.5)
    together, alone = judge.check([sample("a"), sample("b")])
    assert together.label is Label.PASS and together.p_fail == pytest.approx(0.3798, abs=1e-4)
    assert alone == verdict(0.99) and judge.describe()["first"]["weight"] == 0.5


def test_it_says_who_judges() -> None:
    judge = load_judge("baseline:always-fail", cascade="baseline:always-pass", cascade_threshold=0.8)
    assert isinstance(judge, CascadeJudge) and judge.name == "baseline:always-pass then baseline:always-fail"
    described = judge.describe()
    assert described["first"]["sure"] == 0.8 and described["first"] != described
    [found] = judge.check([sample("a")])
    assert found.label is Label.PASS


def test_a_threshold_is_that_of_both() -> None:
    judge = load_judge(cascade="reference", threshold="0.95")
    assert isinstance(judge, CascadeJudge) and judge.describe()["first"]["threshold"] == 0.95
    assert load_judge(cascade="baseline:always-pass", threshold="0.95").describe()["threshold"] == 0.95


def test_sentences_are_judged_by_both() -> None:
    sample = Sample("s", "It is red. It is old.", "It is red. It is new.")
    [verdict] = load_judge("baseline:always-fail", cascade="baseline:always-pass", claims=True).check(
        [sample]
    )
    assert verdict.p_fail == 0 and [claim.p_fail for claim in verdict.claims] == [0, 0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cascade_threshold": 0.4}, "from 0.5 to 1"),
        ({"cascade_threshold": float("nan")}, "from 0.5 to 1"),
        ({"cascade_weight": 2}, "cascade_weight.: is 2, expected a number from 0 to 1"),
        ({"cascade_weight": 0.5, "cascade": None}, "cascade_weight.: is for --cascade"),
    ],
)
def test_wrong_calls_are_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_judge("baseline:always-fail", **{"cascade": "baseline:always-pass"} | asked)


def test_a_baseline_that_goes_first_in_judge_check_keeps_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden: list[str] = []
    monkeypatch.setattr("judge.cli.check._without", lambda *names: hidden.extend(names) or nullcontext())
    texts = ("--document", "A red tower.", "--answer", "It is red.")
    assert call("check", *texts, "--model", "baseline:always-pass", "--cascade", "baseline:overlap") == 2
    assert call("check", *texts, "--cascade", "baseline:overlap") == 2
    assert "cannot be fitted out of fold" in capsys.readouterr().err and not hidden
