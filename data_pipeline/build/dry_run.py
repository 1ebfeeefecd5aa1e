"""Estimates the calls of a build to its teachers, and their cost, without making any.

The whole build runs, into a temporary folder. Where later calls depend on a teacher's reply, the rules stand
in for it: they perturb as many answers as they can, and later calls are counted for these.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig
from data_pipeline.edits.edit import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.teachers.base import Ask, Judgement, Teacher, ask_each
from data_pipeline.teachers.prompts.judgement import judgement_prompt
from data_pipeline.teachers.prompts.perturbation import perturbation_prompt
from judge.remote.budget import Estimate
from judge.types import Sample


def dry_run(config: DataConfig) -> dict[str, Estimate]:
    """Estimate the calls, tokens and price of a build, by teacher; cached replies cost nothing.

    Raises:
        InputError: as the build itself would.
    """
    with TemporaryDirectory() as folder:
        changed = config.model_copy(update={"output": folder})
        teachers = CountingTeachers(changed)
        build(changed, teachers=teachers)
    return teachers.estimates


class CountingTeachers(Teachers):
    """Teachers that count the requests, and reply from the cache or else with filler text."""

    def __init__(self, config: DataConfig):
        words = 50 if config.counterfactuals is None else config.counterfactuals.length
        super().__init__(config, stand_in=lambda request: " ".join(["word"] * words))

    def get(self, name: str) -> Teacher:
        """See :meth:`Teachers.get`."""
        rules = super().get("rules")
        if name == "rules":
            return rules
        return _StandIn(rules, self.ask(name))


@dataclass(frozen=True)
class _StandIn:
    """Sends each request to be counted, and returns what the rules say."""

    rules: Teacher
    ask: Ask

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        for gold, _ in ask_each(golds, perturbation_prompt, self.ask):
            yield from self.rules.perturb([gold])

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        for sample, _ in ask_each(samples, judgement_prompt, self.ask):
            yield from self.rules.judge([sample])
