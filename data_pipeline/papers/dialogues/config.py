"""The keys of a recipe for self-dialogues. No other key is allowed."""

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from data_pipeline.papers.dialogues.topics import Domain
from data_pipeline.teachers.config import CallsConfig, TeacherConfig, need_teachers
from judge.configs import Place, StrictConfig


class DialoguesConfig(StrictConfig):
    """A recipe for self-dialogues."""

    output: Place
    """Folder for the dialogues."""
    domains: dict[Domain, PositiveInt] = Field(min_length=1)
    """How many dialogues of each domain: knowledge, task, chit-chat, reasoning."""
    topics: str | dict[str, str] | None = None
    """A file of your own topics instead of the starter set; or public sets by name, such as
    ``{truthfulqa: TruthfulQA.csv, gsm8k: test.jsonl}``: see ``SETS`` of ``topics.py``."""
    rounds: tuple[PositiveInt, PositiveInt] = (6, 10)
    """Minimum and maximum rounds; each dialogue's number is drawn by the seed (DiaHalu, Table 1)."""
    user: str
    """The model that plays A: the person, or in chit-chat and reasoning the other partner."""
    assistant: str
    """The model that plays B, whose turns are annotated for hallucinations."""
    repair: str | None = None
    """The model that rewrites unfit turns of A (knowledge and task); without one, that is left to people."""
    repairs: str | None = None
    """A file with turns of A rewritten by a person, in the form of ``to_repair.jsonl``; the dialogue is
    generated anew after a rewritten turn."""
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
