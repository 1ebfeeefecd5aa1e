"""Two spans of an English answer change places: what the edit types ``role`` and ``attribution`` share."""

from collections.abc import Iterable
from random import Random

from data_pipeline.edits.edit import Edit, Swap, make_edit

LONGEST = 220
"""Characters of the span of an answer that one edit may cover: a change is told in one line."""


def exchanged(answer: str, one: tuple[int, int], other: tuple[int, int]) -> Swap | None:
    """Two spans change places; ``None`` where they overlap, lie far apart or say the same."""
    (start, stop), (again, end) = sorted((one, other))
    first, second = answer[start:stop], answer[again:end]
    if stop > again or end - start > LONGEST or first.casefold() == second.casefold():
        return None
    return start, end, second + answer[stop:again] + first


def first_made(
    kind: str, answer: str, document: str, rng: Random, candidates: Iterable[Swap | None]
) -> Edit | None:
    """Try candidates in random order until one makes a clean edit."""
    found: list[Swap] = sorted({item for item in candidates if item is not None})
    rng.shuffle(found)
    for candidate in found:
        if edit := make_edit(kind, answer, document, [candidate]):
            return edit
    return None
