"""Batches rows of similar length, so that little is computed on padding."""

from collections.abc import Sequence

CPU_PADDING = 32
"""Maximum padding of a row on a CPU, in tokens: about the overhead of a separate pass."""


def by_length(lengths: Sequence[int], most_tokens: int, most_padding: int | None = None) -> list[list[int]]:
    """Put rows into batches, the longest first, so that running out of memory shows at once.

    Args:
        lengths: tokens of each row.
        most_tokens: maximum tokens per batch, padding included; a longer row runs alone.
        most_padding: maximum padding of a row, in tokens; a device that one row keeps busy gains nothing from
            a second one with much padding. ``None`` for no limit.

    Returns:
        Indices of the rows of each batch.
    """
    found: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest = lengths[found[-1][0]] if found else 0
        full = not found or longest * (len(found[-1]) + 1) > most_tokens
        if full or (most_padding is not None and longest - lengths[index] > most_padding):
            found.append([])
        found[-1].append(index)
    return found
