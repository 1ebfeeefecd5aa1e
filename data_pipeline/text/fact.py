"""A fact of a text: something exact that can be swapped, like a number, a date or a name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: ``text == source[start:end]``; ``form`` is its sub-kind, ``unit`` the word counted."""

    kind: str
    text: str
    start: int
    end: int
    form: str = ""
    unit: str = ""


def is_free(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Does ``[start, end)`` overlap none of the ``taken`` spans?"""
    return all(end <= a or start >= b for a, b in taken)
