"""Draws probes for ``--limit``: whole pairs with their dressed answers, equally from all categories."""

import random
from collections.abc import Sequence
from itertools import chain, zip_longest

from eval.sampling import take
from judge.types import Sample


def draw(samples: Sequence[Sample], limit: int | None, seed: int = 0) -> list[Sample]:
    """Draw ``limit`` samples, a pair of each category, then a second one, and so on; in their original order.

    The answers of a pair come with their dressed copies; if the limit is reached within a pair, the rest of
    that pair is left out. The same samples, limit and seed always give the same draw. ``None``, or a limit
    that is not smaller than the set, returns all samples.

    Raises:
        InputError: if the limit is below 1.
    """
    if limit is None or not 1 <= limit < len(samples):
        return take(samples, limit, seed)
    pairs: dict[str, dict[str, list[int]]] = {}
    for position, sample in enumerate(samples):
        pair, _, _ = str(sample.meta.get("base", sample.id)).rpartition("-")
        of_category = pairs.setdefault(str(sample.meta["category"]), {})
        of_category.setdefault(pair, []).append(position)
    rng = random.Random(seed)
    shuffled = [rng.sample(list(found.values()), len(found)) for found in pairs.values()]
    rounds = chain.from_iterable(zip_longest(*rng.sample(shuffled, len(shuffled)), fillvalue=[]))
    chosen = list(chain.from_iterable(rounds))[:limit]
    return [samples[position] for position in sorted(chosen)]
