"""The keys of a recipe for an OnionEval. No other key is allowed."""

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from data_pipeline.teachers.config import CallsConfig, TeacherConfig, need_teachers
from judge.configs import Place, StrictConfig


class OnionConfig(StrictConfig):
    """A recipe for an OnionEval."""

    output: Place
    """Folder for the set; ``judge eval --data-dir`` takes it."""
    categories: dict[str, PositiveInt] = Field(min_length=1)
    """How many entities of each category."""
    descriptions: str | None = None
    """A file in the form of the released ``description.json``, from which entities are drawn with their
    descriptions; without one, the writer invents both."""
    facts: PositiveInt = 6
    """At most this many facts per entity."""
    writer: str
    """The model that writes."""
    perturber: str | None = None
    """Who makes a fact false: a chat model, by default the writer, or ``rules``, which change numbers, dates,
    names, directions and negations and drop facts without any."""
    checker: str | None = None
    """A second model that checks the items of every stage after the first; without one, only rules do."""
    teachers: tuple[TeacherConfig, ...] = Field(min_length=1)
    """The chat models that ``writer``, ``perturber`` and ``checker`` name."""
    calls: CallsConfig = CallsConfig()
    seed: NonNegativeInt = 0
    gone: ClassVar[Mapping[str, str]] = {
        "attempts": "omit it; the writer is asked twice for entities of a category",
        "description_words": "omit it; a description has 60 words at most",
    }

    @model_validator(mode="after")
    def _two_teachers(self) -> Self:
        need_teachers(self.teachers, [self.writer, self.checker])
        need_teachers(self.teachers, [self.perturber], "rules")
        if self.checker is not None and self.checker in (self.writer, self.perturber):
            raise ValueError("the checker must be another teacher than those it checks; or omit it")
        return self
