"""A judge as a guardrail of any-guardrail (https://mozilla-ai.github.io/any-guardrail)."""

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from any_guardrail.base import Guardrail
from any_guardrail.types import (
    BackendType,
    CategoryResult,
    GuardrailCategory,
    GuardrailMetadata,
    GuardrailOutput,
    GuardrailStage,
    GuardrailUsage,
    OutputShape,
    SpanResult,
)

from judge.adapters import make_sample, reason
from judge.checker import Checker
from judge.types import Label, Language, Task

HALLUCINATION = GuardrailCategory.HALLUCINATION


class FaithfulnessGuardrail(Guardrail):
    """Checks whether an answer is faithful to its context.

    ``valid`` follows the judge's label, and ``score``, the risk, is the probability of a hallucination;
    ``spans`` are the parts of the answer that the judge names as unsupported. If the judge gives no verdict,
    the answer is not ``valid``, without score, and ``extra`` has ``parse_failure``, as in the package's own
    guardrails.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        task: what the answers are.
        language: of contexts and answers.
    """

    METADATA: ClassVar[GuardrailMetadata] = GuardrailMetadata(
        description="Tells whether an answer is faithful to its context.",
        display_name="Hallucination judge",
        categories=frozenset({HALLUCINATION}),
        primary_category=HALLUCINATION,
        stages=frozenset({GuardrailStage.OUTPUT, GuardrailStage.RAG_CONTEXT}),
        output_shapes=frozenset({OutputShape.BINARY, OutputShape.SCORE, OutputShape.SPAN}),
        backend=BackendType.LIBRARY_WRAPPED,
        required_validate_kwargs=frozenset({"context"}),
        optional_validate_kwargs=frozenset({"question"}),
        vendor="hallucination-judge",
        default_license="apache-2.0",
    )

    def __init__(self, judge: Checker, task: Task = Task.QA, language: Language = "en"):
        self.judge, self.task, self.language = judge, task, language
        self.model_id = judge.name

    def validate(
        self,
        input_text: str,
        context: str | Sequence[str] | None = None,
        question: str | None = None,
        **kwargs: Any,
    ) -> GuardrailOutput:
        """Judge one answer.

        Args:
            input_text: the answer.
            context: what it should be faithful to, a text or a list of passages.
            question: what it answers, if there is a question.
            kwargs: ignored; calls written for any guardrail may pass more.

        Raises:
            InputError: if there is no answer or no context.
        """
        start = time.perf_counter()
        sample = make_sample(context, question, input_text, self.task, self.language)
        [verdict] = self.judge.iter_check([sample])
        unjudged = verdict.label is None
        spans = [
            SpanResult(start=words.start, end=words.end, text=words.text, label=HALLUCINATION.value)
            for words in verdict.unsupported
        ]
        wrong = None if unjudged else verdict.label is Label.FAIL
        risk = None if unjudged else verdict.p_fail
        return GuardrailOutput(
            valid=verdict.label is Label.PASS,
            explanation=reason(verdict),
            score=risk,
            categories=[CategoryResult(name=HALLUCINATION.value, triggered=wrong, score=risk)],
            spans=spans or None,
            usage=GuardrailUsage(
                model_id=self.model_id,
                latency_ms=(time.perf_counter() - start) * 1000,
                prompt_tokens=verdict.usage.prompt_tokens,
                completion_tokens=verdict.usage.completion_tokens,
            ),
            extra={"parse_failure": True} if unjudged else None,
        )
