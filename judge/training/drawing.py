"""How often the documents of each source are trained on."""

import random
from collections.abc import Iterator, Mapping, Sequence

from judge.errors import InputError


def times_taken(sources: Sequence[str], weights: Mapping[str, float], seed: int) -> Iterator[int]:
    """How often each document is seen; what is left of a weight is the chance of once more.

    Args:
        sources: the data set that each document came from.
        weights: by source; a source that is not named has 1.
        seed: decides the chances.

    Raises:
        InputError: a weight is given to a source that no document came from.
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
