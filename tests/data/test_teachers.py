"""Teachers: asked in order and as a stream, read without guessing, label-free."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count, islice

import pytest

from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.known_label import reason_for_label
from data_pipeline.teachers.base import ask_each, reply_points, reply_texts
from data_pipeline.teachers.llm import LLMTeacher, asking
from data_pipeline.teachers.pool import Tally
from data_pipeline.teachers.prompts.base import Prompted
from data_pipeline.teachers.prompts.judgement import judgement_prompt
from data_pipeline.teachers.rules import RulesTeacher
from judge.remote.budget import Budget
from judge.remote.chat import ChatRequest, Reply
from judge.types import Label, Language, Sample
from tests.data.scripted import REFUSED, replied, scripted

SAMPLE = Sample("s", "The bridge is 640 m long.", "It is 640 m long.", "How long is it?", label=Label.PASS)
CHINESE = Sample("z", "桥长640米。", "桥长640米。", "桥有多长？", language="zh", label=Label.PASS)


def prompt(number: int) -> Prompted:
    return Prompted([{"role": "user", "content": str(number)}], {})


def echo(text: str) -> str:
    return f"reply {text}"


def test_everything_is_asked_in_order_and_as_a_stream() -> None:
    found = islice(ask_each(count(), prompt, scripted(echo)), 50)
    assert [(number, reply.text) for number, reply in found] == [(n, f"reply {n}") for n in range(50)]


def test_a_client_that_loses_a_reply_is_an_error() -> None:
    def lossy(prompts: Iterable[Prompted]) -> Iterator[Reply]:
        yield from [replied("one") for _ in prompts][:-1]

    with pytest.raises(ValueError):
        list(ask_each([1, 2], prompt, lossy))


@pytest.mark.parametrize("value", [{"a": "x"}, {"a": "x", "b": " "}, {"a": "x", "b": 3}, ["a", "b"], None])
def test_texts_that_a_reply_does_not_have(value: object) -> None:
    found = reply_texts(Reply("", parsed=value), "a", "b")
    assert isinstance(found, Rejected) and found.reason == "invalid"
    assert reply_texts(Reply("", parsed={"b": "y ", "a": "x"}), "a", "b") == ("x", "y")
    assert reply_texts(REFUSED, "a") == Rejected("refused", "I would rather not")


VERDICTS = [
    ("en", {"REASONING": "It says 640.", "SCORE": "PASS"}, Label.PASS, "It says 640.", None),
    ("en", {"REASONING": "It says 640.", "SCORE": "FAIL"}, Label.FAIL, "It says 640.", None),
    ("zh", {"推理过程": "文中是640米。", "判断": "失败"}, Label.FAIL, "文中是640米。", None),
    ("en", REFUSED, None, "", "refused"), ("en", "PASS", None, "", "invalid"),
    ("en", {"REASONING": "It says 640.", "SCORE": "MAYBE"}, None, "", "invalid"),
    ("en", {"SCORE": "PASS"}, None, "", "invalid"),
    ("en", {"REASONING": "  ", "SCORE": "PASS"}, None, "", "no reasoning"),
    ("en", {"REASONING": '"SCORE": "FAIL"', "SCORE": "PASS"}, Label.PASS, '"SCORE": "FAIL"', None),
]  # fmt: skip


@pytest.mark.parametrize(("language", "answer", "label", "reasoning", "problem"), VERDICTS)
def test_a_judgement_is_a_verdict_with_its_reasoning_or_none(
    language: Language, answer: object, label: Label | None, reasoning: str, problem: str | None
) -> None:
    sample = CHINESE if language == "zh" else SAMPLE
    [found] = LLMTeacher("t", scripted([answer])).judge([sample])
    assert (found.teacher, found.label, found.reasoning, found.problem) == ("t", label, reasoning, problem)
    assert found.raw == replied(answer).text


def test_a_client_is_asked_with_the_sampling_that_is_wanted() -> None:
    asked: list[ChatRequest] = []

    def run(requests: Iterable[ChatRequest]) -> Iterator[Reply]:
        for request in requests:
            asked.append(request)
            yield replied({"REASONING": "so", "SCORE": "PASS"}, request.schema)

    teacher = LLMTeacher("t", asking(run, temperature=0.8, max_tokens=99, seed=4))
    assert [item.label for item in teacher.judge([SAMPLE, CHINESE, SAMPLE])] == [Label.PASS, None, Label.PASS]
    assert [request.messages for request in asked[:2]] == [
        judgement_prompt(SAMPLE).messages,
        judgement_prompt(CHINESE).messages,
    ]
    assert all((r.temperature, r.max_tokens, r.seed) == (0.8, 99, 4) for r in asked)
    assert asked[0].schema == judgement_prompt(SAMPLE).schema
    sent = json.loads(asked[0].body("model"))
    assert sent["top_p"] == 1.0 and "top_k" not in sent
    list(asking(run)([judgement_prompt(SAMPLE)]))  # greedy: no field of the sampling
    assert not {"top_p", "top_k"} & json.loads(asked[-1].body("model")).keys()


def test_the_rules_are_a_teacher_too() -> None:
    teacher = RulesTeacher(RulePerturber(0))
    stale = replace(SAMPLE, answer="Long.")
    edited, none = teacher.perturb([SAMPLE, stale])
    assert edited == RulePerturber(0).perturb(SAMPLE)
    assert none == Rejected("no safe edit")
    [found] = teacher.judge([SAMPLE])
    assert (found.teacher, found.label) == ("rules", Label.PASS) and "640" in found.reasoning


TOLD = [
    ("en", "The document says 640 m, so the answer holds.", True),
    ("en", "The change in length is not in the document.", True),
    ("en", "According to the CHANGE, 640 became 460.", False),
    ("en", "The original answer said 640.", False), ("en", "The GOLD_ANSWER says 640.", False),
    ("en", "The given label is FAIL, therefore it fails.", False), ("en", "The answer was altered.", False),
    ("zh", "文档中写的是640米，因此答案不忠实。", True), ("zh", "答案中的640被改成了460。", False),
    ("zh", "标准答案是640米。", False), ("zh", "根据已知的结果，答案不忠实。", False),
]  # fmt: skip


@pytest.mark.parametrize(("language", "reasoning", "kept"), TOLD)
def test_a_reasoning_does_not_name_what_it_was_told(language: Language, reasoning: str, kept: bool) -> None:
    sample = replace(CHINESE if language == "zh" else SAMPLE, label=Label.FAIL)
    [found] = reason_for_label("t", scripted([{"reasoning": ["So:", reasoning]}]), [sample], lambda _: "")
    assert (found.label, found.reasoning) == ((Label.FAIL, f"- So:\n- {reasoning}") if kept else (None, ""))
    assert (found.problem is None) == kept


def test_points_of_a_reply() -> None:
    assert reply_points(replied({"r": ["- one", "", " • two\nhalves "]}, {}), "r") == "- one\n- two halves"
    for value in ({"r": "one"}, {"r": []}, {"r": [" ", "-"]}, {"other": ["one"]}, ["one"]):
        found = reply_points(replied(value, {}), "r")
        assert isinstance(found, Rejected) and found.reason == "invalid"


def test_a_tally_says_why_replies_were_no_answers() -> None:
    said: list[str] = []
    cut, refused = Reply("", problem="truncated"), Reply("", problem="refused")
    replies = [cut, Reply("x"), refused, cut]
    assert list(Tally("fake", said.append, Budget()).count(iter(replies))) == replies
    assert "fake: 4 calls, 0 from the cache, 3 without an answer (1 refused, 2 truncated); " in said[-1]
