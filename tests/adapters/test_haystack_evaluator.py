"""The evaluator inside pipelines of Haystack; nothing leaves the machine."""

import asyncio
import math
import os
from importlib.util import find_spec
from typing import Any

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG, ScriptedJudge

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
if find_spec("haystack") is None:
    pytest.skip("needs haystack", allow_module_level=True)

from haystack import Pipeline
from haystack.components.evaluators import AnswerExactMatchEvaluator
from haystack.evaluation import EvaluationRunResult

from judge import InputError, Task
from judge.adapters import make_sample
from judge.adapters.haystack_evaluator import FaithfulnessEvaluator

ANSWERS = [FAITHFUL, WRONG, GARBLED]
INPUTS = {
    "questions": [QUESTION] * 3, "contexts": [[DOCUMENT], [DOCUMENT, "More."], [DOCUMENT]],
    "predicted_answers": ANSWERS,
}  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_pipeline_of_evaluators(asynchronous: bool) -> None:
    judge = ScriptedJudge()
    pipeline = Pipeline()
    pipeline.add_component("judged", FaithfulnessEvaluator(judge, language="zh"))
    pipeline.add_component("exact", AnswerExactMatchEvaluator())
    exact = {"ground_truth_answers": [FAITHFUL] * 3, "predicted_answers": ANSWERS}
    inputs = {"judged": INPUTS, "exact": exact}
    found = asyncio.run(pipeline.run_async(inputs)) if asynchronous else pipeline.run(inputs)
    judged = found["judged"]
    assert judged["individual_scores"][:2] == [0.875, 0.25] and math.isnan(judged["individual_scores"][2])
    assert judged["score"] == (0.875 + 0.25) / 2
    assert [result["label"] for result in judged["results"]] == ["PASS", "FAIL", None]
    assert [result["status"] for result in judged["results"]] == ["evaluated", "evaluated", "error"]
    assert judged["results"][2]["reason"] == "the reply holds no verdict"
    assert judge.calls == [3]
    assert judge.seen[1] == make_sample((DOCUMENT, "More."), QUESTION, WRONG, Task.QA, "zh")
    report = EvaluationRunResult("run", inputs=INPUTS, results=found).aggregated_report("json")
    assert report == {"metrics": ["exact", "judged"], "score": [1 / 3, 0.5625]}


def test_without_any_verdict_there_is_no_score() -> None:
    judged = FaithfulnessEvaluator(ScriptedJudge()).run([""], [[DOCUMENT]], [GARBLED])
    assert math.isnan(judged["score"])
    assert FaithfulnessEvaluator(ScriptedJudge()).run([], [], [])["individual_scores"] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"questions": [QUESTION]}, "3 answers, 1 questions and 3 lists of contexts"),
        ({"contexts": [[DOCUMENT], [], [DOCUMENT]]}, "field 'document'"),
    ],
)
def test_what_cannot_be_judged_is_refused(changes: dict[str, Any], message: str) -> None:
    judge = ScriptedJudge()
    with pytest.raises(InputError, match=message):
        FaithfulnessEvaluator(judge).run(**{**INPUTS, **changes})
    assert judge.calls == []
