"""The table of a build: samples in order and once each, seeded draws, no trace afterwards, clear failures."""

import random
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.sources.store import SampleStore
from judge.errors import InputError, JudgeError
from judge.types import Label, Sample, Task, shows

StoreOf = Callable[..., SampleStore]


def sample(name: str, group: str = "g", **values: object) -> Sample:
    return replace(Sample(name, "A document.", "An answer.", group=group, source="s"), **values)


SAMPLES = [sample(f"s-{number}", f"g-{number // 3}") for number in range(30)]
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
FILLED = WORDS.filter(shows)
ANY = st.builds(
    Sample,
    id=WORDS,
    document=FILLED | st.lists(FILLED, min_size=1, max_size=3).map(tuple),
    answer=FILLED,
    question=st.just("") | WORDS,
    task=st.sampled_from(Task),
    language=st.sampled_from(["en", "zh"]),
    label=st.none() | st.sampled_from(Label),
    source=st.just("") | WORDS,
    group=WORDS,
    meta=st.dictionaries(
        st.sampled_from(["pair", "domain", "edit_type", "from_document", "spans"]),
        st.none() | st.booleans() | WORDS | st.integers() | st.lists(WORDS, max_size=2),
    ),
)


@settings(max_examples=60, deadline=None)
@given(samples=st.lists(ANY, max_size=8, unique_by=lambda item: item.id))
def test_what_goes_in_comes_out_in_order(store_of: StoreOf, samples: list[Sample]) -> None:
    store = store_of(samples)
    assert list(store.samples()) == samples
    assert list(store.ids("TRUE")) == [item.id for item in samples]
    assert store.count() == len(samples) and store.documents() == len({item.group for item in samples})


def test_numbers_that_are_none_in_meta_are_kept(store_of: StoreOf) -> None:
    """Tables that were written with pandas hold NaN."""
    store = store_of([sample("a", meta={"score": float("nan"), "from_document": True})])
    [found] = store.samples()
    assert found.meta["score"] != found.meta["score"]
    assert store.count("from_document") == 1


@pytest.mark.parametrize(("kind", "counts_as"), [("edit", "edit"), ("faq", "labelled"), ([1], "labelled")])
def test_a_kind_of_the_users_own_is_none_of_ours(store_of: StoreOf, kind: object, counts_as: str) -> None:
    store = store_of([sample("a", meta={"kind": kind})])
    assert store.counts("kind") == {counts_as: 1}
    [found] = store.samples()
    assert found.meta["kind"] == kind


@pytest.mark.parametrize("none", [None, "", float("nan")])
def test_samples_without_a_pair_are_no_pair(store_of: StoreOf, none: object) -> None:
    """Tables hold null or NaN where a row has no value."""
    items = [sample(name, meta={"pair": none}) for name in ("a", "b")]
    assert store_of(items).counts("pair") == {"a": 1, "b": 1}


def test_what_takes_the_place_of_the_last_sample_is_new(store_of: StoreOf) -> None:
    store = store_of(SAMPLES[:2])
    before = store.last()
    store.put(sample("new"), SAMPLES[1].id)
    assert list(store.ids("number > ?", (before,))) == ["new"]


@pytest.mark.parametrize("second", [[SAMPLES[20], SAMPLES[3]], [SAMPLES[20], SAMPLES[21], SAMPLES[20]]])
def test_an_id_that_occurs_twice(store_of: StoreOf, second: list[Sample]) -> None:
    store = store_of(SAMPLES[:10])
    with pytest.raises(InputError, match=f"id '{second[-1].id}' occurs twice, in one source or in two"):
        store.add(second)


@settings(max_examples=30, deadline=None)
@given(order=st.randoms(), count=st.integers(0, 40), seed=st.sampled_from(["x", "y"]))
def test_a_draw_depends_on_the_seed_alone(
    store_of: StoreOf, order: random.Random, count: int, seed: str
) -> None:
    shuffled = order.sample(SAMPLES, len(SAMPLES))
    drawn = list(store_of(SAMPLES).draw("TRUE", (), seed, count))
    again = list(store_of(shuffled).draw("TRUE", (), seed, count))
    assert len(drawn) == min(count, 30)
    assert {item.id for item in drawn} == {item.id for item in again}
    kept = {item.id for item in drawn}
    assert drawn == [item for item in SAMPLES if item.id in kept]  # each in the order of its store
    assert again == [item for item in shuffled if item.id in kept]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_the_file_is_there_as_long_as_the_store(tmp_path: Path, error: type[BaseException] | None) -> None:
    path = tmp_path / "new" / "store.sqlite"
    with pytest.raises(error) if error else nullcontext(), SampleStore(path) as store:
        store.add(SAMPLES)
        assert path.exists()
        if error:
            raise error
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JudgeError, match=r"file/store\.sqlite: the table of the build failed"):
        SampleStore(tmp_path / "file" / "store.sqlite")
