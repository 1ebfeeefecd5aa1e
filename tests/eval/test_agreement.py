import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.agreement import Figure, Ratings, fleiss_kappa, judge_agreement
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


# --- Several raters, some ratings missing, documents resampled ----------------------------------------------

# Krippendorff's own example (Computing Krippendorff's Alpha-Reliability, section E): four observers, twelve
# units, some not rated; alpha for nominal data is 0.743.
OBSERVERS = {"A": "123321412...", "B": "1233224125.3", "C": ".3332342251.", "D": "12332441251."}


def test_alpha_of_krippendorffs_example() -> None:
    items = [{name: row[unit] for name, row in OBSERVERS.items() if row[unit] != "."} for unit in range(12)]
    alpha = Ratings(items, [str(unit) for unit in range(12)]).alpha()
    assert alpha.value == pytest.approx(0.743, abs=0.0005) and alpha.n == 11
    assert alpha.interval is not None and alpha.interval[0] < alpha.value <= alpha.interval[1]


def test_cohen_by_hand() -> None:
    # 20 times both say 1, 15 times both 0: 0.7 observed; chance is 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    ratings = Ratings([{"a": one, "b": two} for one, two in pairs], list(map(str, range(50))))
    assert ratings.cohen("a", "b").value == pytest.approx(0.4)
    assert ratings.mean_cohen() == ratings.cohen("a", "b") and ratings.raw().value == pytest.approx(0.7)


def test_cohen_is_scikit_learns() -> None:
    from sklearn.metrics import cohen_kappa_score

    random_ = random.Random(0)
    for size in (0, 1, 2, 5, 30):
        chosen = [[random_.choice(["PASS", "FAIL", "UNSURE", None]) for _ in "ab"] for _ in range(size)]
        items = [{n: v for n, v in zip("ab", pair, strict=True) if v is not None} for pair in chosen]
        ratings = Ratings([{"a": "x"}, {"b": "x"}, *items], [""] * (size + 2), resamples=0)
        both = [pair for pair in chosen if None not in pair]
        found = ratings.cohen("a", "b")
        assert found.n == len(both)
        if len({label for pair in both for label in pair}) < 2:
            assert found.value is None
        else:
            assert found.value == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)), abs=1e-12)


def test_documents_are_resampled_whole() -> None:
    items = [{"a": number % 2, "b": number % 3 % 2} for number in range(30)]
    once = Ratings(items, [f"document {number}" for number in range(30)]).raw()
    twice = Ratings(items * 2, [f"document {number}" for number in range(30)] * 2).raw()
    assert twice.value == once.value and twice.interval == once.interval  # more of the same tells no more
    assert Ratings(items * 2, list(map(str, range(60)))).raw().interval != once.interval
    assert Ratings([{"a": 1}], [""]).raw() == Figure(None, None, 0)
