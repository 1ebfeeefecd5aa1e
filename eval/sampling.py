"""Drawing a smaller set that is representative of the whole."""

import random
from collections.abc import Sequence

from judge.errors import InputError
from judge.types import Sample

SMALL = 5
"""If strata would give fewer samples than this on average, samples are drawn at equal steps instead."""


def take(samples: Sequence[Sample], limit: int | None, seed: int = 0) -> list[Sample]:
    """Draw ``limit`` samples, stratified by (source, label), and return them in their original order.

    Shares are rounded by largest remainder, so every stratum is within one sample of its share. With many
    small strata, that would distort the label shares; samples are then ordered by label and source, and
    drawn at equal steps. The same samples, limit and seed always give the same draw. ``None``, or a limit
    that is not smaller than the set, returns all samples.

    Raises:
        InputError: if the limit is below 1.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit {limit} is too small; take at least 1 sample, or omit it for all")
    if limit is None or limit >= len(samples):
        return list(samples)
    strata: dict[tuple[str, str], list[int]] = {}
    for position, sample in enumerate(samples):
        strata.setdefault((sample.source, sample.label or ""), []).append(position)

    draw = random.Random(seed)
    if limit < SMALL * len(strata):
        mixed = draw.sample(sorted(strata), len(strata))
        ordered = [
            row
            for key in sorted(mixed, key=lambda key: key[1])
            for row in draw.sample(strata[key], len(strata[key]))
        ]
        start = draw.randrange(len(samples))
        chosen = [ordered[(number * len(samples) + start) // limit] for number in range(limit)]
        return [samples[position] for position in sorted(chosen)]

    shares = {key: divmod(limit * len(rows), len(samples)) for key, rows in strata.items()}
    counts = {key: whole for key, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (-shares[key][1], key))
    for key in by_remainder[: limit - sum(counts.values())]:
        counts[key] += 1
    chosen = [row for key in sorted(strata) for row in draw.sample(strata[key], counts[key])]
    return [samples[position] for position in sorted(chosen)]
