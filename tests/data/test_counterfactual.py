"""Counterfactual question answering: two stages, two samples, and every way in which a seed can fail."""

from typing import Any

import pytest
from scripted import REFUSED, scripted

from data_pipeline.counterfactual import Counterfactual, counterfactuals
from data_pipeline.perturb.verify import Rejected
from data_pipeline.reasoning import explain
from judge.types import Label, Sample, Task

SEED = Sample("q1", "", "Paris", "What is the capital of France?", source="webqa", group="")
CHINESE = Sample("q2", "", "巴黎", "法国的首都是哪里？", language="zh", source="webqa", group="g")
EVIDENCE = {
    "counterfactual_answer": "Lyon",
    "evidence": "The capital of France is Lyon, where the king lives.",
}
DOCUMENT = {
    "document": (
        "France lies in the west. The capital of France is Lyon, where the king lives. It is an old town."
    )
}


def run(
    *answers: Any, seeds: list[Sample] | None = None, length: int = 20
) -> list[Counterfactual | Rejected]:
    """Both stages, with the first stage's answers before the second's."""
    script = iter(answers)
    return list(counterfactuals(scripted(script, ahead=99), seeds or [SEED], "news", length))


def test_a_seed_gives_a_faithful_and_a_hallucinated_sample() -> None:
    [found] = run(EVIDENCE, DOCUMENT)
    assert isinstance(found, Counterfactual)
    faithful, hallucinated = found.faithful, found.hallucinated
    assert (faithful.answer, faithful.label) == ("Lyon", Label.PASS)
    assert (hallucinated.answer, hallucinated.label) == ("Paris", Label.FAIL)
    assert (faithful.id, hallucinated.id) == ("q1-counterfactual", "q1-counterfactual-twin")
    for sample in (faithful, hallucinated):
        assert sample.document == DOCUMENT["document"] and sample.question == SEED.question
        assert (sample.group, sample.source, sample.task) == ("q1", "webqa", Task.QA)
        assert sample.meta["pair"] == "q1-counterfactual"
    assert hallucinated.meta["edit_type"] == "counterfactual"
    assert "capital of France is Lyon" in (explain(faithful) or "")
    reasoning = explain(hallucinated) or ""
    assert '"Paris"' in reasoning and '"Lyon"' in reasoning


def test_in_chinese_too() -> None:
    evidence = {"counterfactual_answer": "里昂", "evidence": "法国的首都是里昂。"}
    [found] = run(evidence, {"document": "法国位于西欧。法国的首都是里昂。"}, seeds=[CHINESE], length=15)
    assert isinstance(found, Counterfactual)
    assert found.hallucinated.group == "g" and "“里昂”" in found.hallucinated.meta["change"]
    reasoning = explain(found.hallucinated) or ""
    assert "“里昂”" in reasoning and "“巴黎”" in reasoning


FIRST_STAGE = [
    ("refused", REFUSED),
    ("invalid", {"counterfactual_answer": "Lyon"}),
    ("invalid", {**EVIDENCE, "evidence": " "}),
    ("answers overlap", {**EVIDENCE, "counterfactual_answer": "paris"}),
    ("answers overlap", {**EVIDENCE, "counterfactual_answer": "Paris, Texas"}),
    ("evidence without its answer", {**EVIDENCE, "counterfactual_answer": "Nice"}),
    ("evidence with the true answer", {**EVIDENCE, "evidence": "Not Paris but Lyon is the capital."}),
]
SECOND_STAGE = [
    ("refused", REFUSED),
    ("invalid", {"document": ""}),
    ("document without its answer", {"document": "The capital of France is a town, where the king lives."}),
    ("document with the true answer", {"document": DOCUMENT["document"] + " Paris was it before."}),
    ("length", {"document": DOCUMENT["document"] * 3}),
    ("length", {"document": "The capital is Lyon."}),
    (
        "document without the evidence",
        {"document": "Lyon has many old bridges and a famous opera house too."},
    ),
]


@pytest.mark.parametrize(("reason", "answer"), FIRST_STAGE)
def test_evidence_that_will_not_do_is_not_expanded(reason: str, answer: Any) -> None:
    [found] = run(answer)  # a second call would find no answer
    assert isinstance(found, Rejected) and found.reason == reason


@pytest.mark.parametrize(("reason", "answer"), SECOND_STAGE)
def test_a_document_that_will_not_do_is_refused(reason: str, answer: Any) -> None:
    [found] = run(EVIDENCE, answer)
    assert isinstance(found, Rejected) and found.reason == reason


def test_the_order_is_kept_past_those_that_fail() -> None:
    seeds = [Sample(f"q{n}", "", "Paris", SEED.question) for n in range(6)]

    def answer(text: str) -> object:
        if "<evidence>" in text:
            return DOCUMENT
        answer.first += 1  # type: ignore[attr-defined]
        return REFUSED if answer.first in (1, 3, 4, 6) else EVIDENCE  # type: ignore[attr-defined]

    answer.first = 0  # type: ignore[attr-defined]
    found = list(counterfactuals(scripted(answer, ahead=2), seeds, "news", 20))
    names = [item.faithful.id if isinstance(item, Counterfactual) else item.reason for item in found]
    assert names == ["refused", "q1-counterfactual", "refused", "refused", "q4-counterfactual", "refused"]
