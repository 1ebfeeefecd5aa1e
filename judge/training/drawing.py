"""How often the documents of each source are trained on."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from judge.errors import InputError

Item = TypeVar("Item")


def times_taken(sources: Sequence[str], weights: Mapping[str, float], seed: int) -> Iterator[int]:
    """How often each document is seen; the fraction of a weight is the chance of one more time.

    Args:
        sources: the source data set of each document.
        weights: by source; the default is 1.
        seed: seed of the random draws.

    Raises:
        InputError: if a weight is given to a source without documents.
    """
    known = sorted(set(sources))
    if unknown := sorted(set(weights) - set(known)):
        raise InputError(
            f"names {unknown[0]}, which no document came from; sources are {', '.join(known)}",
            field="source_weights",
        )
    chance = random.Random(seed)
    for source in sources:
        whole, rest = divmod(weights.get(source, 1.0), 1)
        yield int(whole) + (chance.random() < rest)


def drawn(
    items: Sequence[Item], source_of: Callable[[Item], str], weights: Mapping[str, float], seed: int
) -> list[Item]:
    """The items, each as often as its source weighs, in their order.

    Raises:
        InputError: if a weight is given to a source without items.
    """
    if not weights:
        return list(items)
    times = times_taken([source_of(item) for item in items], weights, seed)
    return [item for item, count in zip(items, times, strict=True) for _ in range(count)]
