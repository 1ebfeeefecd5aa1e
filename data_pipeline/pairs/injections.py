"""Pairs with prompt injections, so that a judge learns to read them as text (:mod:`judge.injections`).

An attack in the document goes into both samples and asks for a random label, so that its text says nothing
about the true one. An attack in the answer goes into the hallucinated sample only and asks for ``PASS``: it
would make a faithful answer unfaithful. No samples are added, so the classes stay balanced.
"""

import random
from collections.abc import Sequence

from judge.injections import PLACES, TRAINED, inject
from judge.types import Label, Sample


def inject_pairs(samples: Sequence[Sample], share: float, seed: int) -> tuple[Sample, ...]:
    """Put attacks into a share of the pairs.

    Args:
        samples: pairs, hallucinated after faithful.
        share: of the pairs that get an attack, from 0 to 1.
        seed: decides which pairs, and which attack. Held-out families never occur.

    Returns:
        The samples in the same order.
    """
    found: list[Sample] = []
    for faithful, hallucinated in zip(samples[::2], samples[1::2], strict=True):
        name = f"injection:{seed}:{faithful.id}"
        rng = random.Random(name)
        if rng.random() < share:
            family, place = rng.choice(TRAINED), rng.choice(PLACES)
            wanted = rng.choice(list(Label)) if place == "document" else Label.PASS
            if place == "document":
                faithful = inject(faithful, family, place, wanted, name)
            hallucinated = inject(hallucinated, family, place, wanted, name)
        found += (faithful, hallucinated)
    return tuple(found)
