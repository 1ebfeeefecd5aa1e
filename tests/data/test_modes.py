"""Which samples get a row in which mode: the wanted share of a split, twins together, none for testing."""

from collections import Counter
from collections.abc import Callable

import pytest

from data_pipeline.build.modes import assign_modes
from data_pipeline.build.splits import assign_splits
from data_pipeline.config import ModesConfig
from data_pipeline.sources.store import SampleStore, pair_of
from judge.types import Label, Mode, Sample


def chosen(store: SampleStore, mode: Mode) -> list[Sample]:
    found = list(store.samples(mode))
    assert [sample.id for sample in store.samples() if store.wants(sample, mode)] == [
        sample.id for sample in found
    ]
    return found


@pytest.fixture
def store(store_of: Callable[..., SampleStore], starter_twins: list[Sample]) -> SampleStore:
    store = store_of(starter_twins)
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
        assert set(Counter(pair_of(sample) for sample in chosen(store, mode)).values()) <= {2}  # twins


def test_the_seed_decides_and_not_the_order(
    store_of: Callable[..., SampleStore], starter_twins: list[Sample]
) -> None:
    def names(samples: list[Sample], seed: int) -> set[str]:
        store = store_of(samples, split="train")
        assign_modes(store, ModesConfig(verdict=0.5), seed)
        return {sample.id for sample in chosen(store, "verdict")}

    assert names(starter_twins, 0) == names(starter_twins[::-1], 0) != names(starter_twins, 1)
