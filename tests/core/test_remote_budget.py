"""Limits that hold with many calls on the wire."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import JudgeError
from judge.remote.budget import Budget, Spending


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 300), st.integers(1, 8), st.integers(0, 2**32))
def test_calls_at_once_never_overspend(limit: int, workers: int, seed: int) -> None:
    rng = random.Random(seed)
    budget = Budget(money=limit / 10, tokens=limit)
    highest = 0

    def work() -> Exception:
        nonlocal highest
        try:
            while True:
                most = Spending(1, size := rng.randint(1, 40), size / 10)
                budget.hold(most)
                used = rng.randint(0, size)
                budget.settle(most, Spending(1, used, used / 10))
                highest = max(highest, budget.spent.tokens)
        except JudgeError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        ends = [call.result() for call in [pool.submit(work) for _ in range(workers)]]
    assert all(isinstance(end, JudgeError) for end in ends)
    assert highest == budget.spent.tokens <= limit
    assert budget.spent.cost <= limit / 10 + 1e-9


def test_a_call_waits_for_what_another_gives_back() -> None:
    budget = Budget(tokens=100)
    budget.hold(Spending(1, 80, 0.0))
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.hold, Spending(1, 60, 0.0))
        with pytest.raises(TimeoutError):
            second.result(0.1)
        budget.settle(Spending(1, 80, 0.0), Spending(1, 30, 0.0))
        second.result(5)
    assert budget.spent == Spending(1, 30, 0.0)


def test_the_error_says_what_was_spent_and_how_to_go_on() -> None:
    budget = Budget(money=0.5, tokens=1000)
    budget.settle(Spending(), Spending(7, 900, 0.45))
    with pytest.raises(JudgeError) as caught:
        budget.hold(Spending(1, 200, 0.1))
    for part in ("0.5 in money", "1,000 tokens", "0.450000", "7 calls", "900 tokens", "same command again"):
        assert part in str(caught.value)
