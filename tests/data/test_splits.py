"""Splits are by document, of the wanted size, and do not depend on the order of samples."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.sources import take_documents
from data_pipeline.splits import SPLITS, assign_splits, in_split
from data_pipeline.starter import load_starter
from judge.types import Sample


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


@settings(max_examples=60, deadline=None)
@given(samples=SETS, validation=SHARES, test=SHARES, seed=st.integers(0, 9), order=st.randoms())
def test_properties(
    samples: list[Sample], validation: float, test: float, seed: int, order: random.Random
) -> None:
    splits = assign_splits(samples, validation, test, seed)
    assert splits.keys() == {sample.group for sample in samples}
    counts = Counter(splits.values())
    assert abs(counts["validation"] - validation * len(splits)) <= 1
    assert abs(counts["test"] - test * len(splits)) <= 1
    shuffled = list(samples)
    order.shuffle(shuffled)
    assert assign_splits(shuffled, validation, test, seed) == splits

    placed = [replace(sample, meta={**sample.meta, "split": splits[sample.group]}) for sample in samples]
    parts = {split: in_split(placed, split) for split in SPLITS}
    assert sum(map(len, parts.values())) == len(samples)
    groups = [{sample.group for sample in part} for part in parts.values()]
    assert sum(map(len, groups)) == len(splits)


def test_every_stratum_is_in_every_split() -> None:
    samples = samples_of([(2, source, domain) for source in (0, 2) for domain in range(2)] * 20)
    splits = assign_splits(samples, 0.1, 0.2, 0)
    assert Counter(splits.values()) == {"train": 56, "validation": 8, "test": 16}
    for source in (0, 2):
        for domain in range(2):
            found = Counter(
                splits[sample.group]
                for sample in samples
                if sample.source == f"source-{source}" and sample.meta["domain"] == f"domain-{domain}"
            )
            assert found == {"train": 14, "validation": 2, "test": 4}


def test_another_seed_gives_other_documents() -> None:
    samples = samples_of([(1, 0, 0)] * 40)
    assert assign_splits(samples, 0.2, 0.2, 0) != assign_splits(samples, 0.2, 0.2, 1)


def test_no_test_split() -> None:
    splits = assign_splits(samples_of([(1, 0, 0)] * 20), 0.1, 0.0, 0)
    assert Counter(splits.values()) == {"train": 18, "validation": 2}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_starter(language: str) -> None:
    samples = [sample for sample in load_starter() if sample.language == language]
    splits = assign_splits(samples, 0.08, 0.15, 0)
    counts = Counter(splits.values())
    assert abs(counts["test"] - 0.15 * len(splits)) <= 1
    assert abs(counts["validation"] - 0.08 * len(splits)) <= 1


@settings(max_examples=60, deadline=None)
@given(samples=SETS, limit=st.integers(1, 80), seed=st.integers(0, 9), order=st.randoms())
def test_a_limit_takes_whole_documents(
    samples: list[Sample], limit: int, seed: int, order: random.Random
) -> None:
    taken = take_documents(samples, limit, seed)
    assert len(taken) <= limit
    assert len(taken) > min(limit, len(samples)) - 4  # a document has at most four samples
    groups = {sample.group for sample in taken}
    assert taken == [sample for sample in samples if sample.group in groups]
    shuffled = list(samples)
    order.shuffle(shuffled)
    assert {sample.id for sample in take_documents(shuffled, limit, seed)} == {sample.id for sample in taken}
