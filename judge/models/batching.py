"""Which rows run through a model together: rows of like length, so that little is computed on padding."""

from collections.abc import Sequence

CPU_PADDING = 32
"""Padding tokens of a row on a CPU, at most: about what a pass of its own costs it beyond its tokens."""


def by_length(lengths: Sequence[int], most_tokens: int, most_padding: int | None = None) -> list[list[int]]:
    """Put rows into batches, the longest first: what does not fit into memory fails at once.

    Args:
        lengths: tokens of each row.
        most_tokens: tokens of a batch, padding included; a row that is longer runs by itself.
        most_padding: by how many tokens a row may be shorter than the longest of its batch; a device that is
            full with one row gains nothing from a second one that it has to pad. ``None``: by any number.

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
