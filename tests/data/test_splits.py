"""Splits are by document, modes by pair: of the wanted size, and whatever the order of the samples."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.build.modes import assign_modes
from data_pipeline.build.splits import SPLITS, assign_splits
from data_pipeline.config import ModesConfig
from data_pipeline.sources.store import SampleStore, pair_of
from judge.types import Label, Mode, Sample

Splits = Callable[..., dict[str, str]]


@pytest.fixture(scope="module")
def splits_of(store_of: Callable[..., SampleStore]) -> Splits:
    """The split of every document, once samples were put into a store and given their splits."""

    def make(samples: list[Sample], validation: float, test: float, seed: int) -> dict[str, str]:
        store = store_of(samples)
        assign_splits(store, validation, test, seed)
        placed = list(store.samples())
        assert [sample.id for sample in placed] == [sample.id for sample in samples]
        splits = {sample.group: sample.meta["split"] for sample in placed}
        for sample in placed:  # everything about one document lies together
            assert sample.meta["split"] == splits[sample.group]
        for split in SPLITS:
            assert store.count("split = ?", (split,)) == sum(item.meta["split"] == split for item in placed)
        return splits

    return make


def samples_of(sizes: list[tuple[int, int, int]]) -> list[Sample]:
    """One group for each (samples, source, domain); every second sample of a group has another source."""
    return [
        Sample(
            id=f"{group}-{number}",
            document=f"Document {group}.",
            answer="Yes.",
            source=f"source-{source + number % 2}",
            group=f"group-{group}",
            meta={"domain": f"domain-{domain}"},
        )
        for group, (count, source, domain) in enumerate(sizes)
        for number in range(count)
    ]


SETS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=24
).map(samples_of)
SHARES = st.floats(0.01, 0.4)


@settings(max_examples=40, deadline=None)
@given(samples=SETS, validation=SHARES, test=SHARES, seed=st.integers(0, 9), order=st.randoms())
def test_properties(
    splits_of: Splits,
    samples: list[Sample],
    validation: float,
    test: float,
    seed: int,
    order: random.Random,
) -> None:
    splits = splits_of(samples, validation, test, seed)
    assert splits.keys() == {sample.group for sample in samples}
    assert set(splits.values()) <= set(SPLITS)
    counts = Counter(splits.values())
    assert abs(counts["validation"] - validation * len(splits)) <= 1
    assert abs(counts["test"] - test * len(splits)) <= 1
    shuffled = list(samples)
    order.shuffle(shuffled)
    assert splits_of(shuffled, validation, test, seed) == splits


def test_every_stratum_is_in_every_split(splits_of: Splits) -> None:
    samples = samples_of([(2, source, domain) for source in (0, 2) for domain in range(2)] * 20)
    splits = splits_of(samples, 0.1, 0.2, 0)
    assert Counter(splits.values()) == {"train": 56, "validation": 8, "test": 16}
    for source in (0, 2):
        for domain in range(2):
            groups = {
                sample.group
                for sample in samples
                if sample.source == f"source-{source}" and sample.meta["domain"] == f"domain-{domain}"
            }
            found = Counter(splits[group] for group in groups)
            assert found == {"train": 14, "validation": 2, "test": 4}


def test_another_seed_gives_other_documents(splits_of: Splits) -> None:
    samples = samples_of([(1, 0, 0)] * 40)
    assert splits_of(samples, 0.2, 0.2, 0) != splits_of(samples, 0.2, 0.2, 1)


def test_copies_of_a_document_stay_together(splits_of: Splits) -> None:
    """Files may name a document twice: the copies differ in punctuation, and one may join two others."""
    samples = samples_of([(2, 0, 0)] * 30)
    copies = [
        Sample("a", "document 3", "Yes.", source="source-9", group="other-3"),
        Sample("b", "DOCUMENT: 4!", "Yes.", source="source-9", group="other-4"),
        Sample("c", "Document 5", "Yes.", source="source-9", group="other-4"),
    ]
    for seed in range(8):
        splits = splits_of([*samples, *copies], 0.3, 0.2, seed)
        assert splits["other-3"] == splits["group-3"]
        assert splits["other-4"] == splits["group-4"] == splits["group-5"]


def test_splits_can_be_assigned_again(store_of: Callable[..., SampleStore]) -> None:
    store = store_of(samples_of([(1, 0, 0)] * 20))
    for test in (0.5, 0.0):
        assign_splits(store, 0.1, test, 0)
    assert store.counts("split") == {"train": 18, "validation": 2}


@given(samples=SETS, seed=st.integers(0, 3))
def test_documents_that_have_a_split_keep_it(
    samples: list[Sample], seed: int, store_of: Callable[..., SampleStore]
) -> None:
    store, before = store_of(samples), store_of(samples[: len(samples) // 2] or samples)
    assign_splits(before, 0.3, 0.2, seed + 1)
    known = dict(before.splits())
    assign_splits(store, 0.3, 0.2, seed, given=before.splits())
    splits = dict(store.splits())
    assert {document: splits[document] for document in known} == known
    assert set(splits) == {sample.group for sample in samples}


# --- Modes --------------------------------------------------------------------------------------------------


def chosen(store: SampleStore, mode: Mode) -> list[Sample]:
    found = list(store.samples(mode))
    assert [sample.id for sample in store.samples() if store.wants(sample, mode)] == [
        sample.id for sample in found
    ]
    return found


@pytest.fixture
def store(store_of: Callable[..., SampleStore], starter_pairs: list[Sample]) -> SampleStore:
    store = store_of(starter_pairs)
    assign_splits(store, 0.2, 0.2, 0)
    return store


@pytest.mark.parametrize(("verdict", "reason"), [(1.0, 0.25), (0.5, 0.5), (0.0, 1.0), (0.3, 0.0)])
def test_shares_of_every_split(store: SampleStore, verdict: float, reason: float) -> None:
    assign_modes(store, ModesConfig(verdict=verdict, reason=reason), 0)
    shares: tuple[tuple[Mode, float], ...] = (("verdict", verdict), ("reason", reason))
    for mode, share in shares:
        counts = Counter((sample.meta["split"], sample.label) for sample in chosen(store, mode))
        for split in ("train", "validation"):
            wanted = round(share * store.pairs(split))
            assert counts[split, Label.PASS] == counts[split, Label.FAIL] == wanted
        assert counts["test", Label.PASS] == counts["test", Label.FAIL] == 0
        assert set(Counter(pair_of(sample) for sample in chosen(store, mode)).values()) <= {2}  # a pair


def test_the_seed_decides_and_not_the_order(
    store_of: Callable[..., SampleStore], starter_pairs: list[Sample]
) -> None:
    def names(samples: list[Sample], seed: int) -> set[str]:
        store = store_of(samples, split="train")
        assign_modes(store, ModesConfig(verdict=0.5), seed)
        return {sample.id for sample in chosen(store, "verdict")}

    assert names(starter_pairs, 0) == names(starter_pairs[::-1], 0) != names(starter_pairs, 1)
