"""The metric inside DeepEval itself; telemetry off, and nothing leaves the machine."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG, ScriptedJudge

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
if find_spec("deepeval") is None:
    pytest.skip("needs deepeval", allow_module_level=True)

import deepeval
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase

from judge import InputError, JudgeError, Task
from judge.adapters import make_sample
from judge.adapters.deepeval_metric import FaithfulnessMetric


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # DeepEval keeps its cache in the working directory


def case(answer: str, context: list[str] | None = None) -> LLMTestCase:
    context = [DOCUMENT] if context is None else context
    return LLMTestCase(input=QUESTION, actual_output=answer, retrieval_context=context)


def run(metric: FaithfulnessMetric, answers: list[str], **options: Any) -> dict[str, Any]:
    """The one metric's data of each test case, by answer."""
    found = deepeval.evaluate(
        [case(answer) for answer in answers],
        [metric],
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        **options,
    )
    return {result.actual_output: result for result in found.test_results}


@pytest.mark.parametrize("run_async", [True, False])
def test_evaluate(run_async: bool) -> None:
    judge = ScriptedJudge()
    found = run(FaithfulnessMetric(judge), [FAITHFUL, WRONG], async_config=AsyncConfig(run_async=run_async))
    assert {answer: result.success for answer, result in found.items()} == {FAITHFUL: True, WRONG: False}
    [data] = found[WRONG].metrics_data
    assert (data.name, data.score, data.threshold) == ("Judged Faithfulness", 0.25, 0.5)
    assert data.evaluation_model == "scripted"
    assert data.reason == "FAIL, probability of a hallucination 0.750"
    assert judge.seen[0] == make_sample((DOCUMENT,), QUESTION, judge.seen[0].answer, Task.QA, "en")


@pytest.mark.parametrize("run_async", [True, False])
def test_no_verdict_is_an_error_and_no_pass(run_async: bool) -> None:
    config = AsyncConfig(run_async=run_async)
    with pytest.raises(JudgeError, match="the reply holds no verdict"):
        run(FaithfulnessMetric(ScriptedJudge()), [GARBLED], async_config=config)
    found = run(
        FaithfulnessMetric(ScriptedJudge()),
        [FAITHFUL, GARBLED],
        async_config=config,
        error_config=ErrorConfig(ignore_errors=True),
    )
    [data] = found[GARBLED].metrics_data
    assert (found[GARBLED].success, data.success, data.score) == (False, False, None)
    assert "the reply holds no verdict" in data.error
    assert found[FAITHFUL].success


def test_a_metric_forgets_the_test_case_before() -> None:
    metric = FaithfulnessMetric(ScriptedJudge(), threshold=0.8, language="zh")
    assert metric.measure(case(FAITHFUL)) == 0.875
    assert metric.is_successful() and metric.success
    with pytest.raises(JudgeError):
        metric.measure(case(GARBLED))
    assert (metric.score, metric.success, metric.is_successful()) == (None, False, False)
    assert metric.error == "the reply holds no verdict"
    with pytest.raises(InputError, match="field 'document'"):
        metric.measure(case(FAITHFUL, context=[]))
    assert not metric.is_successful()
    assert metric.measure(case(WRONG)) == 0.25
    assert not metric.is_successful()
    assert metric.judge.seen[-1].language == "zh"
