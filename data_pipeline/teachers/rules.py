"""The built-in teacher: rules that perturb and rules that judge. It needs no model and costs nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.verify import Rejected
from data_pipeline.teachers.base import Judgement
from data_pipeline.teachers.rules_judge import judge_by_rules
from judge.types import Sample


@dataclass(frozen=True)
class RulesTeacher:
    """Rules as a teacher; its perturber makes the wrong answers."""

    perturber: RulePerturber

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        """An edited answer for every gold sample, or ``no safe edit`` if no rule applies."""
        for gold in golds:
            yield self.perturber.perturb(gold) or Rejected("no safe edit")

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        """A judgement of every sample, by looking its answer up in its document."""
        return map(judge_by_rules, samples)
