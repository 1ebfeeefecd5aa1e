"""The scorer inside Inspect itself, with its mock model; nothing leaves the machine."""

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG, ScriptedJudge

if find_spec("inspect_ai") is None:
    pytest.skip("needs inspect_ai", allow_module_level=True)

import inspect_ai
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from judge import Task
from judge.adapters import make_sample
from judge.adapters.inspect_scorer import faithfulness

METADATA = {"document": DOCUMENT}


def run(folder: Path, scorer: Any, replies: list[str], metadata: dict[str, Any] = METADATA) -> EvalLog:
    """The log of an evaluation, read back from its file."""
    samples = [InspectSample(input=QUESTION, metadata=metadata) for _ in replies]
    outputs = [ModelOutput.from_content("mockllm/model", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage()  # else the mock model fetches a tokenizer to count with
    [log] = inspect_ai.eval(
        inspect_ai.Task(dataset=samples, scorer=scorer),
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(folder),
        max_samples=1,
        display="none",
    )
    return read_eval_log(log.location)


def scores(log: EvalLog) -> list[Any]:
    return [next(iter(sample.scores.values())) for sample in log.samples]


def test_metrics_skip_what_was_not_judged(tmp_path: Path) -> None:
    judge = ScriptedJudge()
    log = run(tmp_path, faithfulness(judge, language="zh"), [FAITHFUL, WRONG, GARBLED, FAITHFUL, ""])
    assert log.status == "success", log.error
    faithful, wrong, garbled, _, empty = scores(log)
    assert (faithful.value, faithful.explanation) == ("C", "The document says 330 m.")
    assert (wrong.value, wrong.metadata) == ("I", {"p_fail": 0.75})
    assert (empty.value, empty.reason) == ("N", "no_response")
    assert math.isnan(garbled.value)
    assert (garbled.reason, garbled.explanation) == ("grader_failed", "the reply holds no verdict")
    [score] = log.results.scores
    assert (score.scored_samples, score.unscored_samples) == (4, 1)
    assert score.metrics["accuracy"].value == 2 / 4
    assert 0 < score.metrics["stderr"].value < 1
    assert judge.seen[0] == make_sample(DOCUMENT, QUESTION, FAITHFUL, Task.QA, "zh")
    assert score.params["judge"] == "scripted"


def test_a_sample_without_a_document_is_an_error(tmp_path: Path) -> None:
    log = run(tmp_path, faithfulness(ScriptedJudge()), [FAITHFUL], {"context": DOCUMENT})
    assert log.status == "error"
    assert "field 'document'" in log.error.message
    log = run(
        tmp_path, faithfulness(ScriptedJudge(), document="context"), [FAITHFUL], {"context": [DOCUMENT]}
    )
    assert scores(log)[0].value == "C"
