"""The metrics inside RAGAS itself; nothing leaves the machine."""

import asyncio
import math
import os
from importlib.util import find_spec

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG, ScriptedJudge

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
if find_spec("ragas") is None:
    pytest.skip("needs ragas", allow_module_level=True)

import ragas
from ragas import EvaluationDataset, SingleTurnSample

from judge import InputError, JudgeError, Task
from judge.adapters import make_sample
from judge.adapters.ragas_metric import Faithfulness, SingleTurnFaithfulness

ROW = {"user_input": QUESTION, "retrieved_contexts": [DOCUMENT]}
SAMPLES = [SingleTurnSample(**ROW, response=answer) for answer in (FAITHFUL, WRONG, GARBLED)]


@pytest.mark.filterwarnings("ignore:evaluate.*deprecated:DeprecationWarning")
def test_evaluate() -> None:
    judge = ScriptedJudge()
    dataset = EvaluationDataset(SAMPLES)
    metric = SingleTurnFaithfulness(judge, language="zh")
    found = ragas.evaluate(dataset, metrics=[metric], show_progress=False)
    faithful, wrong, garbled = found["judged_faithfulness"]
    assert (faithful, wrong) == (0.875, 0.25)
    assert math.isnan(garbled)
    assert make_sample((DOCUMENT,), QUESTION, WRONG, Task.QA, "zh") in judge.seen
    with pytest.raises(JudgeError, match="the reply holds no verdict"):
        ragas.evaluate(dataset, metrics=[metric], show_progress=False, raise_exceptions=True)


def test_single_turn_score() -> None:
    metric = SingleTurnFaithfulness(ScriptedJudge())
    assert metric.single_turn_score(SAMPLES[1]) == 0.25
    assert asyncio.run(metric.single_turn_ascore(SAMPLES[0])) == 0.875
    with pytest.raises(JudgeError):
        metric.single_turn_score(SAMPLES[2])
    # A response can be judged without its question, but not without its contexts.
    assert metric.single_turn_score(SingleTurnSample(retrieved_contexts=[DOCUMENT], response=WRONG)) == 0.25
    with pytest.raises(InputError, match="field 'document'"):
        metric.single_turn_score(SingleTurnSample(response=WRONG))


def test_score_in_an_experiment() -> None:
    metric = Faithfulness(ScriptedJudge())
    result = metric.score(**ROW, response=WRONG)
    assert (result.value, result.reason) == (0.25, "FAIL, probability of a hallucination 0.750")
    results = metric.batch_score([{**ROW, "response": answer} for answer in (FAITHFUL, GARBLED)])
    assert results[0].value == 0.875
    assert math.isnan(results[1].value)
    assert results[1].reason == "the reply holds no verdict"
    with pytest.raises(InputError, match="field 'answer'"):
        metric.score(**ROW, response="")
