"""What the forms have in common: labelled answers, and rows that give none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judge.formats.records import Record
from judge.types import Label

COMMON = ("id", "question", "task", "language", "source", "group", "licence")
"""Fields that every form may have besides its own."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that gives no sample, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled answer of a row; ``name`` tells it from the row's others."""

    text: str
    label: Label
    name: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recipe asks of a form: what labels mean, and the seed."""

    labels: Mapping[str, Label | None] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """How the rows of a form are read: the fields that they need, those that they may have, and the
    answers."""

    read: Callable[[Record, Asked], list[Answer] | str]
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that a row may have."""
        return tuple(dict.fromkeys((*self.needs, *self.may, *COMMON)))
