"""The base of the baselines: a published method on top of a model, with its own prompts."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from eval.baselines.prompts import SupportPrompt
from judge.checker import Checker
from judge.judge import Judge
from judge.types import Mode


@dataclass(frozen=True)
class Baseline(Checker):
    """A method to compare judges with.

    Args:
        judge: the model, in verdict mode.
    """

    method: ClassVar[str]
    judge: Judge
    mode: Mode = "verdict"
    chunk: int = 16

    @property
    def name(self) -> str:
        """The method and the model."""
        return f"{self.method}:{self.judge.name}"

    @property
    def supports(self) -> Judge:
        """The model with the prompt that asks whether a text supports a statement."""
        return replace(self.judge, prompt=SupportPrompt())

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What affects the verdicts besides model and prompts."""

    def describe(self) -> dict[str, Any]:
        """The model, the prompts and the method."""
        return {**self.supports.describe(), "method": self.method, **self.settings()}
