"""The runnable inside chains of langchain-core; nothing leaves the machine."""

import asyncio
from importlib.util import find_spec
from typing import Any

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, VERDICTS, WRONG, ScriptedJudge

if find_spec("langchain_core") is None:
    pytest.skip("needs langchain_core", allow_module_level=True)

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from judge import InputError, JudgeError
from judge.adapters.langchain_runnable import FaithfulnessRunnable
from judge.types import verdict_to_json

INPUT = {"document": DOCUMENT, "question": QUESTION}


@pytest.mark.parametrize("key", ["document", "documents", "context"])
@pytest.mark.parametrize("document", [DOCUMENT, [DOCUMENT], [Document(DOCUMENT)]])
def test_documents_come_in_several_forms(key: str, document: Any) -> None:
    judge = ScriptedJudge()
    fields = {key: document, "input": QUESTION, "answer": WRONG, "chat_history": []}
    assert FaithfulnessRunnable(judge, language="zh").invoke(fields) == verdict_to_json(VERDICTS[WRONG])
    assert judge.seen[0].document_text == DOCUMENT
    assert (judge.seen[0].question, judge.seen[0].language) == (QUESTION, "zh")


def test_it_stands_in_a_chain() -> None:
    answer = RunnableLambda(lambda fields: WRONG if "high" in fields["question"] else FAITHFUL)
    chain = RunnablePassthrough.assign(answer=answer) | FaithfulnessRunnable(ScriptedJudge())
    assert chain.invoke(INPUT)["label"] == "FAIL"
    assert asyncio.run(chain.ainvoke(INPUT))["p_fail"] == 0.75
    assert [found["label"] for found in chain.batch([INPUT, {**INPUT, "question": ""}])] == ["FAIL", "PASS"]
    verdicts = RunnablePassthrough.assign(verdict=FaithfulnessRunnable(ScriptedJudge()))
    assert verdicts.invoke({**INPUT, "answer": WRONG})["verdict"]["label"] == "FAIL"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_batch_is_judged_together_and_errors_keep_their_places(asynchronous: bool) -> None:
    judge = ScriptedJudge()
    runnable = FaithfulnessRunnable(judge)
    inputs = [{**INPUT, "answer": answer} for answer in (FAITHFUL, GARBLED, "", WRONG)]

    def batch(**options: Any) -> list[Any]:
        return asyncio.run(runnable.abatch(inputs, **options)) if asynchronous else runnable.batch(
            inputs, **options
        )  # fmt: skip

    faithful, garbled, empty, wrong = batch(return_exceptions=True)
    assert judge.calls == [3]
    assert (faithful["label"], faithful["reasoning"], wrong["label"]) == (
        "PASS", "The document says 330 m.", "FAIL",
    )  # fmt: skip
    assert isinstance(garbled, JudgeError) and "the reply holds no verdict" in str(garbled)
    assert isinstance(empty, InputError)
    with pytest.raises(JudgeError, match="the reply holds no verdict"):
        batch()
    assert runnable.batch([]) == []


def test_no_verdict_is_no_dictionary() -> None:
    runnable = FaithfulnessRunnable(ScriptedJudge())
    with pytest.raises(JudgeError, match="the reply holds no verdict"):
        runnable.invoke({**INPUT, "answer": GARBLED})
    instead = runnable.with_fallbacks([RunnableLambda(lambda _: {"label": "FAIL"})])
    assert instead.invoke({**INPUT, "answer": GARBLED}) == {"label": "FAIL"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"answer": WRONG}, "document"),
        ({"document": DOCUMENT, "context": DOCUMENT, "answer": WRONG}, "document"),
        ({"document": DOCUMENT, "question": "a", "input": "b", "answer": WRONG}, "question"),
    ],
)
def test_a_wrong_input_is_refused_by_name(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"field '{field}'"):
        FaithfulnessRunnable(ScriptedJudge()).invoke(fields)
