"""The table of a build: samples in order and once each, seeded draws, no trace afterwards, clear failures."""

import random
import sqlite3
from collections.abc import Callable
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


def test_more_samples_come_after_the_first(store_of: StoreOf) -> None:
    store = store_of(SAMPLES[5:])
    store.add(SAMPLES[:5])
    assert list(store.samples()) == SAMPLES[5:] + SAMPLES[:5]


def test_numbers_that_are_none_in_meta_are_kept(store_of: StoreOf) -> None:
    """Tables that were written with pandas hold NaN."""
    store = store_of([sample("a", meta={"score": float("nan"), "from_document": True})])
    [found] = store.samples()
    assert found.meta["score"] != found.meta["score"]
    assert store.count("from_document") == 1


@pytest.mark.parametrize("second", [[SAMPLES[3]], [SAMPLES[20], SAMPLES[3]]])
def test_an_id_in_two_sources(store_of: StoreOf, second: list[Sample]) -> None:
    store = store_of(SAMPLES[:10])
    with pytest.raises(InputError, match="id 's-3' occurs twice, in one source or in two"):
        store.add(second)


def test_an_id_twice_in_a_source(store_of: StoreOf) -> None:
    with pytest.raises(InputError, match="id 's-1' occurs twice"):
        store_of([*SAMPLES[:3], SAMPLES[1], SAMPLES[5]])


def test_what_a_source_raises_comes_through(store_of: StoreOf) -> None:
    def broken() -> object:
        yield SAMPLES[0]
        raise InputError("line 2 is wrong")

    with pytest.raises(InputError, match="line 2 is wrong"):
        store_of(broken())


# --- Conditions, counts, draws ------------------------------------------------------------------------------


def test_conditions_and_counts(store_of: StoreOf) -> None:
    twins = [
        sample("a", label=Label.PASS, meta={"pair": "a"}),
        sample("a-twin", label=Label.FAIL, meta={"pair": "a", "edit_type": "date", "from_document": False}),
        sample("b", "h", language="zh", task=Task.DIALOGUE, source="t", meta={"domain": "law"}),
    ]
    store = store_of(twins, split="train")
    assert [item.id for item in store.samples("label = 'FAIL'")] == ["a-twin"]
    assert [item.id for item in store.samples("source = ? AND domain = ?", ("t", "law"))] == ["b"]
    assert [item.id for item in store.samples("language = 'en'", order="number DESC")] == ["a-twin", "a"]
    assert store.counts("label") == {"FAIL": 1, "PASS": 1}
    assert store.counts("task") == {"dialogue": 1, "qa": 2}
    assert store.counts("edit_type") == {"date": 1}
    assert store.counts("label", "split = 'train'").keys() == set(Label)
    assert not store.counts("label", "split = 'test'")
    assert (store.pairs("train"), store.pairs("test")) == (2, 0)
    assert (store.count("from_document IS NOT NULL"), store.count("from_document")) == (1, 0)


def test_the_split_stands_in_meta(store_of: StoreOf) -> None:
    store = store_of([sample("a", meta={"domain": "law"})])
    assert next(store.samples()).meta == {"domain": "law"}
    store.table.execute("UPDATE samples SET split = 'test'")
    assert next(store.samples()).meta == {"domain": "law", "split": "test"}


def test_drop(store_of: StoreOf) -> None:
    store = store_of(SAMPLES)
    store.drop("document IN (?, ?)", ("g-0", "g-9"))
    assert list(store.samples()) == SAMPLES[3:27]
    store.add(SAMPLES[:3])  # their ids are free again
    assert list(store.samples()) == SAMPLES[3:27] + SAMPLES[:3]


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


def test_a_draw_among_some(store_of: StoreOf) -> None:
    store = store_of(SAMPLES)
    first, second = (
        {item.id for item in store.draw("document IN (?, ?)", ("g-1", "g-2"), seed, 3)} for seed in "ab"
    )
    assert first != second
    assert first | second <= {f"s-{number}" for number in range(3, 9)}
    # Others that come do not change who of those was drawn.
    store.add([sample("other", "g-99")])
    assert {item.id for item in store.draw("document IN (?, ?)", ("g-1", "g-2"), "a", 3)} == first


def test_reasonings(store_of: StoreOf) -> None:
    store = store_of(SAMPLES[:2])
    one, two = SAMPLES[:2]
    store.add_reasoning(one, "second", "wrong too", right=False)
    store.add_reasoning(one, "first", "wrong", right=False)
    store.add_reasoning(one, "third", "right", right=True)
    assert store.reasonings(one, right=False) == [("second", "wrong too"), ("first", "wrong")]
    assert store.reasonings(one, right=True) == [("third", "right")]
    assert store.reasonings(two, right=True) == []


def test_samples_can_be_read_while_reasonings_are_written(store_of: StoreOf) -> None:
    store = store_of(SAMPLES)
    for item in store.samples():
        store.add_reasoning(item, "t", item.id, right=True)
    assert all(store.reasonings(item, right=True) == [("t", item.id)] for item in SAMPLES)


# --- The file -----------------------------------------------------------------------------------------------


def test_the_file_is_there_as_long_as_the_store(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.sqlite"
    with SampleStore(path) as store:
        store.add(SAMPLES)
        assert path.exists()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_file_goes_on_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), SampleStore(tmp_path / "store.sqlite") as store:
        store.add(SAMPLES)
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("whole", [True, False])
def test_a_left_over_file_is_replaced(tmp_path: Path, whole: bool) -> None:
    path = tmp_path / "store.sqlite"
    if whole:
        killed = SampleStore(path)
        killed.add(SAMPLES)
        killed.table.commit()
        killed.table.close()
    else:
        path.write_bytes(b"no table" * 1000)
    with SampleStore(path) as store:
        assert store.count() == 0
        store.add(SAMPLES[:1])
        assert store.count() == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JudgeError, match=r"file/store\.sqlite: the table of the build failed"):
        SampleStore(tmp_path / "file" / "store.sqlite")
    (tmp_path / "store.sqlite").mkdir()
    with pytest.raises(JudgeError, match=r"store\.sqlite: the table of the build failed"):
        SampleStore(tmp_path / "store.sqlite")


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with (
        pytest.raises(JudgeError, match=r"store\.sqlite: the table .* failed .*full") as caught,
        SampleStore(path) as store,
    ):
        store.table.execute("PRAGMA max_page_count = 20")
        store.add(sample(f"s-{number}", document="long " * 200) for number in range(1000))
    assert caught.value.exit_code == 1 and isinstance(caught.value.__cause__, sqlite3.Error)
    assert not path.exists()


def test_a_disk_that_fills_up_later_too(tmp_path: Path) -> None:
    with (
        pytest.raises(JudgeError, match=r"failed .*full"),
        SampleStore(tmp_path / "store.sqlite") as store,
    ):
        store.add(SAMPLES)
        (pages,) = store.table.execute("PRAGMA page_count").fetchone()
        store.table.execute(f"PRAGMA max_page_count = {pages}")
        for _ in range(1000):
            store.add_reasoning(SAMPLES[0], "t", "long " * 200, right=True)
