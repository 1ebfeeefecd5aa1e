from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.sampling import take
from judge.errors import InputError
from judge.types import Label, Sample

P, F = Label.PASS, Label.FAIL
strata = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([*Label, None])), min_size=1, max_size=60)


def make(rows: list[tuple[str, Label | None]]) -> list[Sample]:
    return [
        Sample(id=str(number), document="d", answer="a", source=source, label=label)
        for number, (source, label) in enumerate(rows)
    ]


@given(strata, st.integers(1, 80), st.integers(0, 5))
def test_take_is_stratified_ordered_and_repeatable(rows: list, limit: int, seed: int) -> None:
    samples = make(rows)
    taken = take(samples, limit, seed)
    assert len(taken) == min(limit, len(samples))
    positions = [int(sample.id) for sample in taken]
    assert positions == sorted(set(positions))
    assert taken == take(samples, limit, seed)
    whole = Counter((sample.source, sample.label) for sample in samples)
    part = Counter((sample.source, sample.label) for sample in taken)
    for key, count in whole.items():
        share = len(taken) * count / len(samples)
        assert abs(part[key] - share) < 1


def test_no_limit_gives_all_and_seeds_differ() -> None:
    samples = make([("a", Label.PASS)] * 100)
    assert take(samples, None, 0) == take(samples, 100, 0) == take(samples, 900, 0) == samples
    assert take(samples, 10, 0) != take(samples, 10, 1)


def test_many_small_sources_keep_the_shares_of_the_labels() -> None:
    samples = make([(f"s{number // 4:04}", F if number % 4 == 0 else P) for number in range(4000)])
    for limit in (40, 500, 1000):
        drawn = [take(samples, limit, seed) for seed in (0, 1)]
        for taken in drawn:
            assert abs(sum(sample.label is F for sample in taken) - limit / 4) < 1
            assert min(sample.source for sample in taken) < "s0100"
            assert max(sample.source for sample in taken) > "s0900"
        assert drawn[0] != drawn[1]


def test_draws_from_large_sources_stay() -> None:
    """Published results were measured on such draws."""
    samples = make([("ab"[number % 2], (P, F)[number % 3 == 0]) for number in range(60)])
    drawn = "2 3 4 5 7 8 10 12 21 23 25 28 30 34 36 41 51 52 55 59"
    assert " ".join(sample.id for sample in take(samples, 20, 7)) == drawn


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_too_small(limit: int) -> None:
    with pytest.raises(InputError, match="limit"):
        take(make([("a", None)]), limit, 0)
