"""Drawing keeps twins together and strata in their shares, and gives as many as there are and no more."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.config import SamplingConfig
from data_pipeline.sampling import allot, draw
from data_pipeline.store import SampleStore
from judge.types import Label, Sample, Task

StoreOf = Callable[..., SampleStore]
SIZES = st.dictionaries(st.text("abc", min_size=1), st.integers(1, 60), max_size=8)


# --- Allotting ----------------------------------------------------------------------------------------------


@given(sizes=SIZES, total=st.integers(0, 300), even=st.booleans())
def test_allotted_is_what_there_is_up_to_the_total(sizes: dict[str, int], total: int, even: bool) -> None:
    allotted = allot(sizes, total, even=even)
    assert allotted.keys() == sizes.keys()
    assert all(0 <= allotted[name] <= size for name, size in sizes.items())
    assert sum(allotted.values()) == min(total, sum(sizes.values()))


@given(sizes=SIZES, total=st.integers(0, 300))
def test_even_strata_differ_by_one_unless_they_are_used_up(sizes: dict[str, int], total: int) -> None:
    allotted = allot(sizes, total, even=True)
    most = max(allotted.values(), default=0)
    for name, size in sizes.items():
        assert allotted[name] == size or allotted[name] >= most - 1


@given(sizes=SIZES, total=st.integers(0, 300))
def test_shares_are_exact_to_one(sizes: dict[str, int], total: int) -> None:
    whole = sum(sizes.values())
    for name, given_ in allot(sizes, total, even=False).items():
        assert abs(given_ - min(total, whole) * sizes[name] / whole) < 1


@given(sizes=SIZES, total=st.integers(0, 300), even=st.booleans(), order=st.randoms())
def test_the_order_of_strata_changes_nothing(
    sizes: dict[str, int], total: int, even: bool, order: random.Random
) -> None:
    shuffled = dict(order.sample(list(sizes.items()), len(sizes)))
    assert allot(shuffled, total, even=even) == allot(sizes, total, even=even)


def test_many_small_strata_get_their_share() -> None:
    sizes = {"large": 100, **{f"small-{number}": 5 for number in range(20)}}
    assert allot(sizes, 50, even=False)["large"] == 25


# --- Drawing ------------------------------------------------------------------------------------------------


def twins(name: str, source: str = "s", edit_type: str = "date", **values: Any) -> list[Sample]:
    shared: dict[str, Any] = {"document": "D.", "answer": "A.", "source": source, "group": name, **values}
    edit = {"pair": name, "edit_type": edit_type}
    return [
        Sample(name, label=Label.PASS, meta={"pair": name}, **shared),
        Sample(f"{name}-twin", label=Label.FAIL, meta=edit, **shared),
    ]


def pairs(number: int, name: str, **values: Any) -> list[Sample]:
    return [item for place in range(number) for item in twins(f"{name}-{place}", **values)]


def drawn(store: SampleStore, seed: int = 0, **config: Any) -> list[Sample]:
    """What is left, once the ids of what is not were seen to be right."""
    before = [sample.id for sample in store.samples()]
    dropped = list(draw(store, SamplingConfig(**config), seed))
    left = list(store.samples())
    kept = {sample.id for sample in left}
    assert dropped == [name for name in before if name not in kept]
    assert [sample.id for sample in left] == [name for name in before if name in kept]
    return left


MIXED = pairs(30, "a", source="large") + pairs(8, "b", source="small") + pairs(2, "c", source="tiny")


@settings(max_examples=30, deadline=None)
@given(
    number=st.integers(1, 100),
    even=st.booleans(),
    seed=st.integers(0, 3),
    by=st.lists(st.sampled_from(["source", "label", "edit_type", "task", "language"]), unique=True),
)
def test_twins_stay_together(store_of: StoreOf, number: int, even: bool, seed: int, by: list[str]) -> None:
    left = drawn(store_of(MIXED), seed, samples=number, by=by, even=even)
    assert len(left) <= number
    assert len(left) > min(number, len(MIXED)) - 2 * 3  # less than a pair is left open in each of the strata
    assert set(Counter(sample.meta["pair"] for sample in left).values()) <= {2}


@pytest.mark.parametrize(
    ("even", "wanted"),
    [(False, {"large": 30, "small": 8, "tiny": 2}), (True, {"large": 20, "small": 16, "tiny": 4})],
)
def test_strata(store_of: StoreOf, even: bool, wanted: dict[str, int]) -> None:
    left = drawn(store_of(MIXED), samples=40, by=["source"], even=even)
    assert Counter(sample.source for sample in left) == wanted


def test_strata_of_several_columns(store_of: StoreOf) -> None:
    samples = (
        pairs(10, "a", source="x", language="en", edit_type="date")
        + pairs(10, "b", source="x", language="zh", edit_type="date")
        + pairs(10, "c", source="x", language="zh", edit_type="number")
        + pairs(10, "d", source="y", language="zh", edit_type="number", task=Task.DIALOGUE)
    )
    by = ["source", "task", "language", "label", "edit_type"]
    left = drawn(store_of(samples), samples=24, by=by, even=True)
    assert Counter(sample.meta["pair"][0] for sample in left) == {"a": 6, "b": 6, "c": 6, "d": 6}


def test_single_samples_by_label(store_of: StoreOf) -> None:
    samples = [
        Sample(f"{label}-{number}", "D.", "A.", group=f"{number}", label=label)
        for label, size in ((Label.PASS, 30), (Label.FAIL, 10))
        for number in range(size)
    ]
    left = drawn(store_of(samples), samples=12, by=["label"], even=True)
    assert Counter(sample.label for sample in left) == {Label.PASS: 6, Label.FAIL: 6}


def test_the_seed_decides_and_not_the_order(store_of: StoreOf) -> None:
    def kept(samples: list[Sample], seed: int) -> set[str]:
        return {sample.id for sample in drawn(store_of(samples), seed, samples=20)}

    assert kept(MIXED, 0) == kept(MIXED[::-1], 0) != kept(MIXED, 1)


def test_more_than_there_are_is_all(store_of: StoreOf) -> None:
    assert drawn(store_of(MIXED), samples=1000) == MIXED


def test_a_set_can_be_drawn_from_again(store_of: StoreOf) -> None:
    store = store_of(MIXED)
    first = drawn(store, samples=40)
    second = drawn(store, samples=20)
    assert 14 < len(second) <= 20 and {item.id for item in second} <= {item.id for item in first}
