"""The keys of a recipe for self-dialogues. Every key here is read, and no other is allowed."""

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from data_pipeline.papers.dialogues.topics import Domain
from data_pipeline.teachers.config import CallsConfig, TeacherConfig, need_teachers
from judge.configs import StrictConfig


class DialoguesConfig(StrictConfig):
    """A recipe for self-dialogues."""

    output: str
    """Folder for the dialogues."""
    domains: dict[Domain, PositiveInt] = Field(min_length=1)
    """How many dialogues of each domain: knowledge, task, chit-chat, reasoning."""
    topics: str | dict[str, str] | None = None
    """A file of topics of your own, instead of those that come along; or public sets by name, such as
    ``{truthfulqa: TruthfulQA.csv, gsm8k: test.jsonl}``: see ``SETS`` of ``topics.py``."""
    rounds: tuple[PositiveInt, PositiveInt] = (6, 10)
    """Least and most rounds; each dialogue has a number between them, by the seed (DiaHalu, Table 1)."""
    user: str
    """The model that plays A: the person, or in chit-chat and reasoning the other partner."""
    assistant: str
    """The model that plays B, and is looked at for hallucinations."""
    repair: str | None = None
    """The model that says again what A should not have said (knowledge and task); without, people do it."""
    repairs: str | None = None
    """A file with turns of A that a person rewrote, in the form of ``to_repair.jsonl``; what follows a
    rewritten turn is talked anew."""
    teachers: tuple[TeacherConfig, ...] = Field(min_length=1)
    """The chat models that ``user``, ``assistant`` and ``repair`` name."""
    calls: CallsConfig = CallsConfig()
    seed: NonNegativeInt = 0
    gone: ClassVar[Mapping[str, str]] = {
        "attempts": "omit it; a turn is repaired twice at most",
        "user_words": "omit it; a turn of A has 60 words at most",
    }

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        need_teachers(self.teachers, [self.user, self.assistant, self.repair])
        if self.rounds[0] > self.rounds[1]:
            raise ValueError("rounds: the minimum is above the maximum")
        return self
