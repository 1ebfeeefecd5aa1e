"""A judge as a metric of DeepEval (https://deepeval.com)."""

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from judge.adapters import make_sample, reason, score
from judge.checker import Checker
from judge.types import Language, Sample, Task, Verdict


class FaithfulnessMetric(BaseMetric):
    """Is ``actual_output`` faithful to ``retrieval_context``? The score is the probability that it is.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        threshold: a test case passes at or above this score; it replaces the judge's own threshold.
        task: what the answers are.
        language: of documents and answers.

    ``measure`` raises ``JudgeError`` if the judge gives no verdict, and ``InputError`` if the test case has
    nothing to judge; with DeepEval's ``ignore_errors`` such a test case is marked as errored and fails.
    """

    score: float | None
    reason: str | None
    error: str | None

    def __init__(
        self, judge: Checker, threshold: float = 0.5, task: Task = Task.QA, language: Language = "en"
    ):
        # DeepEval copies a metric by calling its class with the attributes named like the parameters.
        self.judge, self.threshold, self.task, self.language = judge, threshold, task, language
        self.evaluation_model = judge.name

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Judge one test case."""
        sample = self._sample(test_case)
        [verdict] = self.judge.iter_check([sample])
        return self._keep(verdict)

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Judge one test case without blocking the event loop."""
        sample = self._sample(test_case)
        [verdict] = await self.judge.acheck([sample])
        return self._keep(verdict)

    def is_successful(self) -> bool:
        """Whether the last test case was judged and passed."""
        return self.error is None and self.score is not None and self.score >= self.threshold

    @property
    def __name__(self) -> str:
        return "Judged Faithfulness"

    def _sample(self, test_case: LLMTestCase) -> Sample:
        self.score = self.reason = self.error = None  # clears the previous test case
        self.success = False
        passages = [getattr(part, "context", part) for part in test_case.retrieval_context or ()]
        return make_sample(passages, test_case.input, test_case.actual_output, self.task, self.language)

    def _keep(self, verdict: Verdict) -> float:
        self.reason, self.error = reason(verdict), verdict.error
        self.score = found = score(verdict)
        self.success = self.is_successful()
        return found
