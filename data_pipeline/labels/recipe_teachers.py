"""The teachers that a data recipe names: its chat models, and the rules."""

from collections.abc import Callable

from data_pipeline.config import DataConfig
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.teachers.base import Teacher
from data_pipeline.teachers.llm import LLMTeacher
from data_pipeline.teachers.pool import ChatModels, StandIn
from data_pipeline.teachers.rules import RulesTeacher


class Teachers(ChatModels):
    """The teachers of a data recipe, the rules among them. A context manager."""

    def __init__(
        self, config: DataConfig, say: Callable[[str], None] = lambda _: None, stand_in: StandIn | None = None
    ):
        super().__init__(config.teachers, config.calls, config.seed, say, stand_in)
        self.config = config

    def get(self, name: str) -> Teacher:
        """A teacher by name."""
        if name == "rules":
            config = self.config
            return RulesTeacher(RulePerturber(config.seed, config.edit_types, config.from_document))
        return LLMTeacher(name, self.ask(name))
