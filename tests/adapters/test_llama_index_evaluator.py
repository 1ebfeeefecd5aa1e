"""The evaluator inside LlamaIndex itself; nothing leaves the machine."""

import asyncio
from importlib.util import find_spec

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG, ScriptedJudge

if find_spec("llama_index") is None:
    pytest.skip("needs llama_index", allow_module_level=True)

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

from judge import InputError, Task
from judge.adapters import make_sample
from judge.adapters.llama_index_evaluator import FaithfulnessEvaluator


def test_results() -> None:
    judge = ScriptedJudge()
    evaluator = FaithfulnessEvaluator(judge, language="zh")
    faithful = evaluator.evaluate(QUESTION, FAITHFUL, [DOCUMENT])
    assert (faithful.passing, faithful.score, faithful.feedback) == (True, 0.875, "The document says 330 m.")
    assert (faithful.query, faithful.response, faithful.contexts) == (QUESTION, FAITHFUL, [DOCUMENT])
    wrong = asyncio.run(evaluator.aevaluate(QUESTION, WRONG, [DOCUMENT]))
    assert (wrong.passing, wrong.score, wrong.invalid_result) == (False, 0.25, False)
    assert judge.seen[-1] == make_sample([DOCUMENT], QUESTION, WRONG, Task.QA, "zh")
    garbled = evaluator.evaluate(QUESTION, GARBLED, [DOCUMENT])
    assert (garbled.passing, garbled.score) == (None, None)
    assert (garbled.invalid_result, garbled.invalid_reason) == (True, "the reply holds no verdict")
    assert evaluator.get_prompts() == {}


def test_what_cannot_be_judged_is_refused_by_name() -> None:
    evaluator = FaithfulnessEvaluator(ScriptedJudge())
    with pytest.raises(InputError, match="field 'document'"):
        evaluator.evaluate(QUESTION, WRONG)
    with pytest.raises(InputError, match="field 'answer'"):
        evaluator.evaluate_response(QUESTION, Response(None, [NodeWithScore(node=TextNode(text=DOCUMENT))]))


def test_a_query_engines_responses_in_a_batch() -> None:
    judge = ScriptedJudge()
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in (DOCUMENT, "More.")]
    responses = [Response(answer, nodes) for answer in (FAITHFUL, GARBLED, WRONG)]
    runner = BatchEvalRunner({"judged": FaithfulnessEvaluator(judge)}, workers=2)
    found = runner.evaluate_responses(queries=[QUESTION] * 3, responses=responses)["judged"]
    assert [result.score for result in found] == [0.875, None, 0.25]
    assert {sample.document for sample in judge.seen} == {(DOCUMENT, "More.")}
