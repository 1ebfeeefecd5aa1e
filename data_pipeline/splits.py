"""Splits by document: everything about one document lies in one split, so that nothing leaks between them."""

import random
from collections.abc import Iterable, Sequence
from typing import Literal

from judge.types import Sample

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


def assign_splits(samples: Iterable[Sample], validation: float, test: float, seed: int) -> dict[str, Split]:
    """Give every document (``Sample.group``) a split.

    The shares hold within every stratum (source, language, domain) as nearly as whole documents allow, and
    over all of them: what one stratum is owed is carried over to the next.

    Args:
        samples: all samples of the data set.
        validation: share of documents for validation.
        test: share of documents for the test split.
        seed: decides which documents; the same set and seed give the same splits.
    """
    strata_of: dict[str, tuple[str, ...]] = {}
    for sample in samples:
        stratum: tuple[str, ...] = (sample.source, sample.language, str(sample.meta.get("domain", "")))
        # A document may have samples of several; the first by name counts, whatever their order.
        strata_of[sample.group] = min(stratum, strata_of.get(sample.group, stratum))
    strata: dict[tuple[str, ...], list[str]] = {}
    for group, stratum in strata_of.items():
        strata.setdefault(stratum, []).append(group)

    splits: dict[str, Split] = {}
    owed: dict[Split, float] = {"validation": 0.0, "test": 0.0}
    for stratum, groups in sorted(strata.items()):
        groups.sort()
        random.Random(f"split:{seed}:{stratum}").shuffle(groups)
        start = 0
        shares: tuple[tuple[Split, float], ...] = (("test", test), ("validation", validation))
        for split, share in shares:
            owed[split] += share * len(groups)
            count = min(round(owed[split]), len(groups) - start)
            owed[split] -= count
            splits |= dict.fromkeys(groups[start : start + count], split)
            start += count
        splits |= dict.fromkeys(groups[start:], "train")
    return splits


def in_split(samples: Sequence[Sample], split: Split) -> list[Sample]:
    """The samples of a built data set that lie in one split (``meta["split"]``)."""
    return [sample for sample in samples if sample.meta.get("split") == split]
