"""How often the documents of each source are trained on."""

import random
from collections.abc import Iterator, Mapping, Sequence

from judge.errors import InputError


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
