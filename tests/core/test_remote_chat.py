"""What a request is sent as and known by, and how a reply is read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.remote.cache import call_key
from judge.remote.chat import ChatRequest, is_completion, read_reply, read_usage
from judge.remote.config import EndpointConfig, Prices
from judge.types import Message, Usage

ASK: list[Message] = [{"role": "user", "content": "Ist das wahr? \u5bf9\u5417\uff1f"}]
SCHEMA = {"type": "object", "properties": {"SCORE": {"enum": ["PASS", "FAIL"]}}, "required": ["SCORE"]}


def completion(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 1000, "completion_tokens": 20}
    choice = {"message": {"content": content, **message}, "finish_reason": finish}
    return {"choices": [choice], "usage": usage}


def test_a_body_holds_what_was_asked_for_and_nothing_else() -> None:
    assert json.loads(ChatRequest(ASK, temperature=None).body("m")) == {
        "model": "m",
        "messages": ASK,
        "max_tokens": 1024,
    }
    request = ChatRequest(ASK, SCHEMA, 5, 0.7, seed=3, top_logprobs=4, extra={"top_p": 0.9})
    assert json.loads(request.body("m", "max_completion_tokens")) == {
        "model": "m",
        "messages": ASK,
        "max_completion_tokens": 5,
        "temperature": 0.7,
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 4,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
        "top_p": 0.9,
    }


def test_whatever_may_change_the_answer_makes_another_call() -> None:
    turned = {"properties": {}, **SCHEMA}
    requests = [
        ChatRequest(ASK),
        ChatRequest([*ASK, *ASK]),
        ChatRequest(ASK, SCHEMA),
        ChatRequest(ASK, {**SCHEMA, "properties": {"x": {}, "y": {}}}),
        ChatRequest(ASK, {**SCHEMA, "properties": {"y": {}, "x": {}}}),  # models write in this order
        ChatRequest(ASK, turned),
        ChatRequest(ASK, max_tokens=9),
        ChatRequest(ASK, temperature=0.5),
        ChatRequest(ASK, temperature=None),
        ChatRequest(ASK, seed=0),
        ChatRequest(ASK, top_logprobs=2),
        ChatRequest(ASK, extra={"top_p": 0.5}),
    ]
    assert ChatRequest(ASK, extra={"top_p": 1, "stop": ["."]}).body("m") == ChatRequest(
        [{"content": ASK[0]["content"], "role": "user"}], extra={"stop": ["."], "top_p": 1}
    ).body("m")  # however it was written
    keys = {call_key("teacher", request.body("m")) for request in requests}
    keys |= {call_key("another", ChatRequest(ASK).body("m")), call_key("teacher", ChatRequest(ASK).body("n"))}
    assert len(keys) == len(requests) + 2


@given(st.text(), st.text())
def test_texts_are_only_values_of_the_body(role: str, content: str) -> None:
    try:
        body = ChatRequest([{"role": role, "content": content}]).body("m")
    except InputError:
        assert any("\ud800" <= character <= "\udfff" for character in role + content)
        return
    assert json.loads(body)["messages"] == [{"role": role, "content": content}]


def test_extra_cannot_take_the_place_of_a_field() -> None:
    with pytest.raises(InputError, match="'messages'"):
        ChatRequest(ASK, extra={"messages": []}).body("m")


def test_an_answer_has_its_json_and_its_price() -> None:
    reply = read_reply(
        completion('{"SCORE": "PASS"}'), ChatRequest(ASK, SCHEMA), Prices(prompt=2.5, completion=10)
    )
    assert (reply.parsed, reply.problem, reply.detail) == ({"SCORE": "PASS"}, None, "")
    assert reply.usage == Usage(1000, 20)
    assert read_usage({"usage": {"prompt_tokens": 5, "completion_tokens": -1}}) is None
    assert reply.cost == pytest.approx(0.0027)


@pytest.mark.parametrize(
    ("raw", "problem", "detail"),
    [
        (completion(None, refusal="I will not."), "refused", "I will not."),
        (completion(None, finish="content_filter"), "refused", "filter"),
        (completion('{"SCORE": "PA', finish="length"), "truncated", "token limit"),
        (completion(None), "invalid", "empty"),
        (completion('{"SCORE": NaN}'), "invalid", "NaN"),
        (completion('{"SCORE": "PASS"} and more'), "invalid", "not valid JSON"),
        (completion('{"SCORE": "MAYBE"}'), "invalid", "MAYBE"),
        (completion('{"SCORE": "PASS", "x": "\\ud800"}'), "invalid", "half a character"),
        (completion("[" * 100_000), "invalid", "not valid JSON"),
    ],
)
def test_what_is_no_answer_is_named(raw: dict[str, Any], problem: str, detail: str) -> None:
    reply = read_reply(raw, ChatRequest(ASK, SCHEMA), None)
    assert (reply.problem, reply.parsed) == (problem, None)
    assert detail in reply.detail


def test_half_a_character_is_no_answer_without_a_schema_either() -> None:
    assert read_reply(completion("\ud800"), ChatRequest(ASK), None).problem == "invalid"


def test_first_tokens_may_hit_the_limit() -> None:
    raw = completion("PASS", finish="length")
    raw["choices"][0]["logprobs"] = {"content": [{"token": "PASS", "logprob": -0.1, "top_logprobs": []}]}
    reply = read_reply(raw, ChatRequest(ASK, max_tokens=1, top_logprobs=5, first_tokens=True), None)
    assert (reply.problem, reply.text, reply.logprobs[0]["logprob"]) == (None, "PASS", -0.1)


def test_a_schema_that_is_none_is_said_to_be() -> None:
    with pytest.raises(InputError, match="not a JSON schema"):
        read_reply(completion("{}"), ChatRequest(ASK, {"type": "thing"}), None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "logprobs", "refusal"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, json_values, json_values)
def test_any_json_is_read_or_turned_away(value: Any, choice: Any, usage: Any) -> None:
    for raw in (value, {"choices": [choice], "usage": usage}, {"choices": [{"message": choice}]}):
        if is_completion(raw):
            read_reply(raw, ChatRequest(ASK, SCHEMA), Prices(prompt=1, completion=1))


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x/v1", "https://user:key@x/v1", "https://x/v1?key=1"]
)
def test_an_address_holds_no_key(url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        EndpointConfig(base_url=url, model="m")
