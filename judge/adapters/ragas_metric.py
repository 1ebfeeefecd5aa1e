"""A judge as a metric of RAGAS (https://docs.ragas.io).

RAGAS has two kinds of metrics that are not interchangeable: those for its experiments return a result with a
reason, and single-turn metrics for ``ragas.evaluate`` return a number.
"""

import math
from collections.abc import Sequence
from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricType, SingleTurnMetric
from ragas.metrics.collections.base import BaseMetric
from ragas.metrics.result import MetricResult
from ragas.run_config import RunConfig

from judge.adapters import make_sample, reason, score
from judge.checker import Checker
from judge.types import Language, Task

NAME = "judged_faithfulness"


class Faithfulness(BaseMetric):
    """For experiments: the probability that a response is faithful to its contexts, and why.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        task: what the responses are.
        language: of contexts and responses.
    """

    def __init__(self, judge: Checker, task: Task = Task.QA, language: Language = "en"):
        super().__init__(name=NAME)
        self.judge, self.task, self.language = judge, task, language

    async def ascore(
        self, response: str, retrieved_contexts: Sequence[str], user_input: str = ""
    ) -> MetricResult:
        """Judge one response; if the judge gives no verdict, the value is NaN and the reason says why.

        Raises:
            InputError: if there is no response, or nothing to judge it against.
        """
        sample = make_sample(retrieved_contexts, user_input, response, self.task, self.language)
        [verdict] = await self.judge.acheck([sample])
        value = math.nan if verdict.label is None else score(verdict)
        return MetricResult(value=value, reason=reason(verdict))


class SingleTurnFaithfulness(SingleTurnMetric):
    """For ``ragas.evaluate``: the probability that a response is faithful to its contexts.

    Raises ``JudgeError`` if the judge gives no verdict, and ``InputError`` if there is nothing to judge;
    ``ragas.evaluate`` turns both into NaN, or passes them on with ``raise_exceptions``.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        task: what the responses are.
        language: of contexts and responses.
    """

    def __init__(self, judge: Checker, task: Task = Task.QA, language: Language = "en"):
        columns = {"response", "retrieved_contexts", "user_input:optional"}
        super().__init__(name=NAME, _required_columns={MetricType.SINGLE_TURN: columns})
        self.judge, self.task, self.language = judge, task, language

    def init(self, run_config: RunConfig) -> None:
        """Does nothing, since the judge is ready."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any) -> float:
        judged = make_sample(
            sample.retrieved_contexts, sample.user_input, sample.response, self.task, self.language
        )
        [verdict] = await self.judge.acheck([judged])
        return score(verdict)
