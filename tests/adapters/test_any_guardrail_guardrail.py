"""The guardrail by the rules of any-guardrail; nothing leaves the machine."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG, ScriptedJudge

if find_spec("any_guardrail") is None:
    pytest.skip("needs any_guardrail", allow_module_level=True)

from any_guardrail.base import Guardrail
from any_guardrail.types import GuardrailOutput

from judge import Label, Sample, Task, Verdict
from judge.adapters import make_sample
from judge.adapters.any_guardrail_guardrail import FaithfulnessGuardrail
from judge.types import Unsupported, Usage


def test_outputs() -> None:
    judge = ScriptedJudge()
    guardrail: Guardrail = FaithfulnessGuardrail(judge, language="zh")
    faithful = guardrail.validate(FAITHFUL, context=DOCUMENT, question=QUESTION)
    assert (faithful.valid, faithful.score, faithful.explanation) == (True, 0.125, "The document says 330 m.")
    assert faithful.extra is None and faithful.spans is None
    assert faithful.usage is not None and faithful.usage.model_id == "scripted"
    assert faithful.usage.latency_ms is not None and faithful.usage.latency_ms > 0
    wrong = guardrail.validate(WRONG, context=[DOCUMENT, "More."])
    assert (wrong.valid, wrong.score) == (False, 0.75)
    [category] = wrong.categories
    assert (category.name, category.triggered, category.score) == ("hallucination", True, 0.75)
    assert judge.seen[-1] == make_sample((DOCUMENT, "More."), "", WRONG, Task.QA, "zh")
    assert GuardrailOutput.model_validate_json(wrong.model_dump_json()) == wrong


def test_no_verdict_lets_nothing_through() -> None:
    garbled = FaithfulnessGuardrail(ScriptedJudge()).validate(GARBLED, context=DOCUMENT)
    assert (garbled.valid, garbled.score, garbled.extra) == (False, None, {"parse_failure": True})
    assert garbled.explanation == "the reply holds no verdict"
    assert garbled.categories[0].triggered is None


class Naming(ScriptedJudge):
    """Names a stretch of the answer, as an encoder does."""

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        return iter(
            [Verdict(Label.FAIL, 0.9, usage=Usage(12, 1), unsupported=(Unsupported("500 m", 6, 11),))]
        )


def test_unsupported_stretches_are_spans() -> None:
    found = FaithfulnessGuardrail(Naming()).validate(WRONG, context=DOCUMENT)
    assert found.spans is not None and found.usage is not None
    assert [(span.start, span.end, span.text) for span in found.spans] == [(6, 11, "500 m")]
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (12, 1)
