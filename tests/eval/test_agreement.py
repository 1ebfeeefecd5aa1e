import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.agreement import fleiss_kappa, judge_agreement
from judge.errors import InputError
from judge.types import Label, Verdict

# Ten subjects, fourteen raters, five categories; the worked example found in most texts gives 0.210.
TEXTBOOK = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip
PASS, FAIL, NONE = Verdict(Label.PASS), Verdict(Label.FAIL), Verdict(None)


def test_textbook() -> None:
    ratings = [[kind for kind, times in enumerate(row) for _ in range(times)] for row in TEXTBOOK]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=0.0005)


def test_two_raters_by_hand() -> None:
    # They agree on 3 of 4; half of all ratings are 1, so chance gives 1/2.
    assert fleiss_kappa([(1, 1), (1, 1), (0, 0), (0, 0)]) == 1
    assert fleiss_kappa([(1, 1), (1, 0), (0, 0), (0, 1)]) == pytest.approx(0)
    assert fleiss_kappa([(0, 1), (1, 0)]) == -1
    assert fleiss_kappa([(1, 1), (1, 1)]) is None


ratings = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(0, 2), min_size=raters, max_size=raters), min_size=1, max_size=8
    )
)


@given(ratings, st.randoms())
def test_order_and_names_do_not_matter(rows: list[list[int]], draw: random.Random) -> None:
    kappa = fleiss_kappa(rows)
    shuffled = [draw.sample(row, len(row)) for row in draw.sample(rows, len(rows))]
    renamed = [["abc"[value] for value in row] for row in shuffled]
    assert fleiss_kappa(renamed) == (None if kappa is None else pytest.approx(kappa))
    assert kappa is None or kappa <= 1 + 1e-9


def test_judges() -> None:
    verdicts = {"a": [PASS, FAIL, NONE, FAIL], "b": [PASS, FAIL, PASS, FAIL], "c": [PASS, FAIL, PASS, PASS]}
    kappa, samples = judge_agreement(verdicts)
    assert samples == 3 and kappa == fleiss_kappa([(0, 0, 0), (1, 1, 1), (1, 1, 0)])
    assert judge_agreement({"a": [NONE], "b": [PASS]}) == (None, 0)


@pytest.mark.parametrize("rows", [[], [[1]], [[1, 1], [1]]])
def test_wrong_ratings(rows: list[list[int]]) -> None:
    with pytest.raises(InputError):
        fleiss_kappa(rows)


@pytest.mark.parametrize("verdicts", [{}, {"a": [PASS]}, {"a": [PASS], "b": []}])
def test_wrong_verdicts(verdicts: dict[str, list[Verdict]]) -> None:
    with pytest.raises(InputError):
        judge_agreement(verdicts)
