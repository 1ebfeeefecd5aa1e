"""A judge as an evaluator of Haystack (https://haystack.deepset.ai), with the inputs of Haystack's own."""

import math
from collections.abc import Sequence
from typing import Any

from haystack import component

from judge.adapters import make_sample, reason, score
from judge.checker import Checker
from judge.errors import InputError
from judge.types import Language, Sample, Task, Verdict


@component
class FaithfulnessEvaluator:
    """Are answers faithful to their contexts? A score is the probability that one is.

    Takes the place of Haystack's ``FaithfulnessEvaluator`` in a pipeline, and judges all answers together.
    An answer without a verdict has the score NaN and the status ``error``, and the mean is over the others.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        task: what the answers are.
        language: of contexts and answers.
    """

    def __init__(self, judge: Checker, task: Task = Task.QA, language: Language = "en"):
        self.judge, self.task, self.language = judge, task, language

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    def run(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """Judge answers.

        Args:
            questions: one for each answer; may be empty.
            contexts: the passages that each answer should be faithful to.
            predicted_answers: the answers.

        Returns:
            ``score``, the mean; ``individual_scores``; and ``results``, for each answer its ``label``,
            ``score``, ``reason`` and ``status`` (``evaluated`` or ``error``).

        Raises:
            InputError: if the lists differ in length, or an answer or its contexts are empty.
        """
        return _outputs(self.judge.check(self._samples(questions, contexts, predicted_answers)))

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    async def run_async(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """:meth:`run` without blocking the event loop."""
        return _outputs(await self.judge.acheck(self._samples(questions, contexts, predicted_answers)))

    def _samples(self, questions: list[str], contexts: list[list[str]], answers: list[str]) -> list[Sample]:
        if not len(questions) == len(contexts) == len(answers):
            raise InputError(
                f"{len(answers)} answers, {len(questions)} questions and {len(contexts)} lists of contexts; "
                "expected one of each for every answer",
                field="predicted_answers",
            )
        return [
            make_sample(passages, question, answer, self.task, self.language)
            for question, passages, answer in zip(questions, contexts, answers, strict=True)
        ]


def _outputs(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    scores = [math.nan if verdict.label is None else score(verdict) for verdict in verdicts]
    judged = [one for one in scores if not math.isnan(one)]
    return {
        "score": sum(judged) / len(judged) if judged else math.nan,
        "individual_scores": scores,
        "results": [
            {
                "label": verdict.label and verdict.label.value,
                "score": one,
                "reason": reason(verdict),
                "status": "error" if verdict.label is None else "evaluated",
            }
            for verdict, one in zip(verdicts, scores, strict=True)
        ],
    }
