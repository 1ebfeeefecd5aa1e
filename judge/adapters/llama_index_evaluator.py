"""A judge as an evaluator of LlamaIndex (https://www.llamaindex.ai); only needs llama-index-core."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from judge.adapters import make_sample, reason, score
from judge.checker import Checker
from judge.types import Label, Language, Sample, Task, Verdict


class FaithfulnessEvaluator(BaseEvaluator):
    """Is a response faithful to its contexts? The score is the probability that it is.

    ``passing`` follows the judge's own label. If the judge gives no verdict, the result is marked as invalid
    (``invalid_result``, ``invalid_reason``), without score; if there is nothing to judge, evaluating raises
    ``InputError``.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        task: what the responses are.
        language: of contexts and responses.
    """

    def __init__(self, judge: Checker, task: Task = Task.QA, language: Language = "en"):
        self.judge, self.task, self.language = judge, task, language

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Judge one response."""
        sample = self._sample(query, response, contexts)
        [verdict] = self.judge.iter_check([sample])
        return _result(query, response, contexts, verdict)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Judge one response without blocking the event loop."""
        sample = self._sample(query, response, contexts)
        [verdict] = await self.judge.acheck([sample])
        return _result(query, response, contexts, verdict)

    def _sample(self, query: str | None, response: str | None, contexts: Sequence[str] | None) -> Sample:
        return make_sample(contexts, query, response, self.task, self.language)

    def _get_prompts(self) -> dict[str, Any]:
        """None, since a judge's prompt is fixed by its training."""
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        """Does nothing, as there are none."""


def _result(
    query: str | None, response: str | None, contexts: Sequence[str] | None, verdict: Verdict
) -> EvaluationResult:
    found = EvaluationResult(query=query, response=response, contexts=contexts, feedback=reason(verdict))
    if verdict.label is None:
        found.invalid_result, found.invalid_reason = True, verdict.error
    else:
        found.passing, found.score = verdict.label is Label.PASS, score(verdict)
    return found
