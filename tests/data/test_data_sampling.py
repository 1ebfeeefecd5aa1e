"""A mix keeps pairs together, holds shares of kinds and the cap for sources, and tells of what it cannot."""

import random
from collections import Counter
from collections.abc import Callable
from math import fsum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.build.mix import allot
from data_pipeline.build.sampling import draw
from data_pipeline.config import MixConfig
from data_pipeline.sources.store import SampleStore
from judge.errors import InputError
from judge.types import Label, Sample

StoreOf = Callable[..., SampleStore]
KINDS, SOURCES = ("edit", "long", "added"), ("s", "t", "u", "v", "w")
CELLS = st.dictionaries(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(SOURCES)), st.integers(1, 400), min_size=1
)
WISHES = st.builds(
    MixConfig,
    samples=st.integers(1, 2000),
    kinds=st.none() | st.dictionaries(st.sampled_from(KINDS), st.floats(0.05, 1), min_size=1),
    max_source=st.floats(0.1, 1),
)


def shares(found: dict[tuple[str, str], float], column: int) -> dict[str, float]:
    sums: Counter[str] = Counter()
    for cell, count in found.items():
        sums[cell[column]] += count
    return dict(sums)


# --- Allotting ----------------------------------------------------------------------------------------------


@given(there=CELLS, config=WISHES)
def test_nothing_is_allotted_that_is_not_there_or_over_the_cap(there: dict, config: MixConfig) -> None:
    plan = allot(there, config)
    assert all(0 <= count <= there[cell] + 1e-3 for cell, count in plan.cells.items())  # of linear programmes
    assert plan.total <= config.samples + 1e-3
    assert all(kind in (config.kinds or KINDS) for kind, _ in plan.cells)
    for count in shares(plan.cells, 1).values():
        assert count <= plan.most * plan.total + 0.01
    sources = {source for _, source in plan.cells}
    assert plan.most == (max(config.max_source, 1 / len(sources)) if sources else config.max_source)


@given(there=CELLS, config=WISHES)
def test_without_a_cap_all_that_is_asked_for_and_there_is_given(there: dict, config: MixConfig) -> None:
    config = config.model_copy(update={"max_source": 1.0})
    most = sum(count for (kind, _), count in there.items() if kind in (config.kinds or KINDS))
    assert allot(there, config).total == pytest.approx(min(config.samples, most), abs=0.01)


@given(st.integers(100, 1000), st.lists(st.floats(0.1, 1), min_size=3, max_size=3), st.floats(0.3, 1))
def test_shares_hold_where_there_is_enough(samples: int, wished: list[float], cap: float) -> None:
    there = {
        (kind, source): 1000 + 700 * place * at
        for place, kind in enumerate(KINDS)
        for at, source in enumerate(SOURCES)
    }
    kinds = dict(zip(KINDS, wished, strict=True))
    plan = allot(there, MixConfig(samples=samples, kinds=kinds, max_source=cap))
    assert plan.total == pytest.approx(samples, abs=0.01)
    for kind, count in shares(plan.cells, 0).items():
        assert count == pytest.approx(samples * kinds[kind] / fsum(wished), abs=0.01)


@pytest.mark.parametrize(
    ("there", "wishes", "column", "wanted"),
    [
        (  # what one kind cannot give the others do in proportion
            {("edit", "s"): 1000, ("long", "s"): 1000, ("added", "s"): 30},
            {"samples": 600, "kinds": {"edit": 2, "long": 1, "added": 3}},
            0, {"added": 30, "edit": 380, "long": 190},
        ),
        (  # edits are in one source alone; the long answers make room for them there
            {("edit", "s"): 500, ("long", "s"): 500, ("long", "t"): 500},
            {"samples": 400, "kinds": {"edit": 0.5, "long": 0.5}, "max_source": 0.5},
            1, {"s": 200, "t": 200},
        ),
        (  # a large source is capped, and the set made smaller
            {("edit", "s"): 7300, ("edit", "t"): 900, ("edit", "u"): 900, ("edit", "v"): 900},
            {"samples": 10000, "max_source": 0.25}, 1, {"s": 900, "t": 900, "u": 900, "v": 900},
        ),
        (  # weights of sources
            {("edit", "s"): 1000, ("edit", "t"): 1000, ("edit", "u"): 1000},
            {"samples": 300, "sources": {"s": 3, "u": 0}}, 1, {"s": 225, "t": 75},
        ),
    ],
)  # fmt: skip
def test_what_is_allotted(
    there: dict[tuple[str, str], int], wishes: dict[str, Any], column: int, wanted: dict[str, int]
) -> None:
    plan = allot(there, MixConfig(**wishes))
    assert shares(plan.cells, column) == pytest.approx(wanted)


# --- Drawing ------------------------------------------------------------------------------------------------


def a_pair(name: str, source: str = "s", kind: str = "edit") -> list[Sample]:
    shared: dict[str, Any] = {"document": "D.", "answer": "A.", "source": source, "group": name}
    meta = {"pair": name, "kind": kind}
    return [
        Sample(name, label=Label.PASS, meta=meta, **shared),
        Sample(f"{name}-hallucinated", label=Label.FAIL, meta={**meta, "edit_type": "date"}, **shared),
    ]


def pairs(number: int, name: str, **values: Any) -> list[Sample]:
    return [item for place in range(number) for item in a_pair(f"{name}-{place}", **values)]


def labelled(number: int, name: str, label: Label, source: str = "s") -> list[Sample]:
    return [
        Sample(f"{name}-{place}", "D.", "A.", group=f"{name}-{place}", label=label, source=source)
        for place in range(number)
    ]


def drawn(store: SampleStore, seed: int = 0, **config: Any) -> tuple[list[Sample], dict[str, Any]]:
    """What is left and what is said of it, once the ids of what is not were seen to be right."""
    before = [sample.id for sample in store.samples()]
    dropped: list[str] = []
    record = draw(store, MixConfig(**config), seed, lambda _, name: dropped.append(name))
    left = list(store.samples())
    kept = {sample.id for sample in left}
    assert dropped == [name for name in before if name not in kept]
    assert [sample.id for sample in left] == [name for name in before if name in kept]
    assert record["samples"] == len(left)
    for column, of in (("kinds", lambda s: s.meta.get("kind", "labelled")), ("sources", lambda s: s.source)):
        counts = Counter(map(of, left))
        assert {name: row["samples"] for name, row in record[column].items() if row["samples"]} == counts
    return left, record


MIXED = (
    pairs(60, "a", source="large")
    + pairs(40, "b", source="large", kind="long")
    + pairs(20, "c", source="small")
    + pairs(25, "d", source="small", kind="long")
    + pairs(9, "e", source="tiny", kind="added")
    + labelled(20, "f", Label.PASS, "tiny")
    + labelled(12, "g", Label.FAIL, "tiny")
)


@settings(max_examples=40, deadline=None)
@given(
    number=st.integers(2, 400),
    seed=st.integers(0, 3),
    cap=st.floats(0.2, 1),
    kinds=st.none()
    | st.dictionaries(st.sampled_from(["edit", "long", "added", "labelled"]), st.floats(0.1, 1), min_size=1),
)
def test_pairs_stay_together_and_the_cap_holds(
    store_of: StoreOf, number: int, seed: int, cap: float, kinds: dict[str, float] | None
) -> None:
    left, record = drawn(store_of(MIXED), seed, samples=number, kinds=kinds, max_source=cap)
    assert len(left) <= number
    assert set(Counter(sample.meta["pair"] for sample in left if "pair" in sample.meta).values()) <= {2}
    there = {
        sample.source for sample in MIXED if kinds is None or sample.meta.get("kind", "labelled") in kinds
    }
    most = max(cap, 1 / len(there))
    for count in Counter(sample.source for sample in left).values():
        assert count <= most * len(left) + 2 * len(record["kinds"])


@settings(max_examples=40, deadline=None)
@given(
    number=st.integers(10, 90),
    wished=st.lists(st.floats(0.2, 1), min_size=2, max_size=2),
    seed=st.integers(0, 3),
)
def test_shares_are_held_within_a_pair(
    store_of: StoreOf, number: int, wished: list[float], seed: int
) -> None:
    kinds = {"edit": wished[0], "long": wished[1]}
    left, _ = drawn(store_of(MIXED), seed, samples=number, kinds=kinds)
    counts = Counter(sample.meta["kind"] for sample in left)
    for kind, share in kinds.items():
        assert abs(counts[kind] - number * share / sum(wished)) <= 2


@pytest.mark.parametrize("number", range(2, 34, 3))
def test_labels_are_balanced_while_there_are_both(store_of: StoreOf, number: int) -> None:
    left, _ = drawn(store_of(MIXED), samples=number, kinds={"labelled": 1})
    counts = Counter(sample.label for sample in left)
    assert counts[Label.FAIL] == min(12, number // 2 if number % 2 == 0 else counts[Label.FAIL])
    assert len(left) == min(number, 32) and abs(counts[Label.PASS] - counts[Label.FAIL]) <= max(
        1, number - 24
    )


def test_what_came_of_it_is_told(store_of: StoreOf) -> None:
    kinds = {"edit": 1, "long": 1, "added": 1, "refusal": 1}
    left, record = drawn(store_of(MIXED), samples=120, kinds=kinds, max_source=0.5)
    assert record["asked"] == 120 and record["kinds"]["added"] == {
        "there": 18, "samples": 18, "share": round(18 / len(left), 4), "asked": 0.25,
    }  # fmt: skip
    assert record["kinds"]["refusal"] == {"there": 0, "samples": 0, "share": 0.0, "asked": 0.25}
    assert record["kinds"]["labelled"]["samples"] == 0 and "asked" not in record["kinds"]["labelled"]
    assert record["sources"]["large"]["share"] <= 0.52
    assert [note.split(",")[0] for note in record["notes"]] == [
        f"added: {record['kinds']['added']['share']:.1%} instead of 25.0%", "refusal: 0.0% instead of 25.0%",
    ]  # fmt: skip


def test_a_cap_that_cannot_be_held_is_told(store_of: StoreOf) -> None:
    left, record = drawn(store_of(MIXED), samples=100, kinds={"edit": 1, "long": 1}, max_source=0.25)
    assert record["notes"][0] == "max_source 25% is impossible with 2 sources; 50% is"
    assert Counter(sample.source for sample in left) == {"large": 50, "small": 50}


def test_fewer_than_asked_are_told(store_of: StoreOf) -> None:
    left, record = drawn(store_of(MIXED), samples=1000, max_source=0.4)
    assert len(left) < 250 and "samples instead of 1,000: no source may give more than its share" in str(
        record
    )


def test_the_seed_decides_and_not_the_order(store_of: StoreOf) -> None:
    def kept(samples: list[Sample], seed: int) -> set[str]:
        left, _ = drawn(store_of(samples), seed, samples=60, kinds={"edit": 1, "labelled": 1}, max_source=0.6)
        return {sample.id for sample in left}

    shuffled = random.Random(0).sample(MIXED, len(MIXED))
    assert kept(MIXED, 0) == kept(shuffled, 0) != kept(MIXED, 1)


def test_more_than_there_are_is_all(store_of: StoreOf) -> None:
    left, record = drawn(store_of(MIXED), samples=len(MIXED))
    assert left == MIXED and record["notes"] == []


def test_a_weight_for_a_source_that_is_not_there(store_of: StoreOf) -> None:
    with pytest.raises(InputError, match=r"mix.sources.*'larg'.*large"):
        drawn(store_of(MIXED), samples=5, sources={"larg": 2})
