"""A model in this process is asked like an endpoint: in order, from the cache where it can be."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.teachers.local import CHUNK, LocalClient
from judge.backends.base import Decoding, Generation
from judge.remote.cache import CallCache
from judge.remote.chat import ChatRequest, Reply
from judge.types import Message

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
OTHER = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}


class Scripted:
    """A backend whose replies are made by a function of the prompt; it keeps what it was asked."""

    context_length = 100

    def __init__(self, answer: Callable[[str], str] = str.upper):
        self.answer = answer
        self.batches: list[dict[str, Any]] = []

    def count_tokens(self, messages: Sequence[Message]) -> int:
        return len(messages[-1]["content"].split())

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        texts = [messages[-1]["content"] for messages in conversations]
        self.batches.append({"texts": texts, **asdict(decoding)})
        limit = decoding.max_new_tokens
        replies = [self.answer(text).split(" ") for text in texts]
        return [
            Generation(" ".join(words[:limit]), len(words) > limit, len(words[:limit])) for words in replies
        ]

    @property
    def asked(self) -> list[str]:
        return [text for batch in self.batches for text in batch["texts"]]


def request(text: str, **settings: Any) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], **{"max_tokens": 20, **settings})


def run(client: LocalClient, *requests: ChatRequest) -> list[Reply]:
    return list(client.run(requests))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    with CallCache(tmp_path / "calls.sqlite") as cache:
        yield cache


def test_replies_are_in_order_a_chunk_at_a_time() -> None:
    backend, taken = Scripted(), []
    texts = [f"text {number}" for number in range(2 * CHUNK + 3)]

    def requests() -> Iterator[ChatRequest]:
        for text in texts:
            taken.append(text)
            yield request(text)

    stream = LocalClient(backend, "m").run(requests())
    replies = [next(stream)]
    assert taken == texts[:CHUNK]
    replies += stream
    assert [reply.text for reply in replies] == [text.upper() for text in texts]
    assert backend.asked == texts
    assert not any(reply.cached or reply.problem for reply in replies)
    assert (replies[0].usage.prompt_tokens, replies[0].usage.completion_tokens) == (2, 2)


def test_what_was_answered_is_not_asked_again(cache: CallCache) -> None:
    first, second = Scripted(), Scripted()
    run(LocalClient(first, "m", cache, "t"), request("a"), request("b"))
    replies = run(LocalClient(second, "m", cache, "t"), request("b"), request("c"), request("a"))
    assert [reply.text for reply in replies] == ["B", "C", "A"]
    assert [reply.cached for reply in replies] == [True, False, True]
    assert second.asked == ["c"]


@pytest.mark.parametrize(("model", "name"), [("other", "t"), ("m", "other")])
def test_another_model_or_teacher_is_asked_itself(cache: CallCache, model: str, name: str) -> None:
    run(LocalClient(Scripted(), "m", cache, "t"), request("a"))
    backend = Scripted()
    run(LocalClient(backend, model, cache, name), request("a"))
    assert backend.asked == ["a"]


def test_the_same_request_twice_is_one_call() -> None:
    backend = Scripted()
    replies = run(LocalClient(backend, "m"), request("a"), request("b"), request("a"))
    assert [reply.text for reply in replies] == ["A", "B", "A"]
    assert backend.asked == ["a", "b"]


def test_a_truncated_reply_is_no_answer_and_is_not_asked_again(cache: CallCache) -> None:
    backend = Scripted(lambda text: "word " * 50)
    for cached in (False, True):
        [reply] = run(LocalClient(backend, "m", cache), request("a"))
        assert (reply.problem, reply.cached, reply.usage.completion_tokens) == ("truncated", cached, 20)
    assert len(backend.asked) == 1


def test_the_model_here_is_sampled_as_the_request_says(cache: CallCache) -> None:
    backend = Scripted()
    run(LocalClient(backend, "m", cache), request("a", temperature=0.8, top_p=0.7), request("b"))
    sampled = {(batch["temperature"], batch["top_p"]) for batch in backend.batches}
    assert sampled == {(0.8, 0.7), (0.0, 1.0)}
    run(LocalClient(backend, "m", cache), request("a", temperature=0.8, top_p=0.9))
    assert backend.asked == ["a", "b", "a"] or backend.asked == ["b", "a", "a"]  # another call, made anew


def test_a_prompt_that_does_not_fit_is_not_run(cache: CallCache) -> None:
    backend = Scripted(lambda _: "yes")
    fits, long = request("w " * 80), request("w " * 81)
    assert run(LocalClient(backend, "m", cache), long)[0].problem == "too_long" and backend.batches == []
    replies = run(LocalClient(backend, "m", cache), long, fits)
    assert [reply.problem for reply in replies] == ["too_long", None]
    assert len(backend.asked) == 1
    assert replies[0].detail == "81 tokens and up to 20 of a reply do not fit into 100"


@pytest.mark.parametrize(
    ("said", "parsed", "problem"),
    [
        ('{"a": "b"}', {"a": "b"}, None),
        ('Sure! ```json\n{"a": "b"}\n``` Done.', {"a": "b"}, None),
        ('{"a": "{b}"}', {"a": "{b}"}, None),
        ('{"a": 1}', None, "invalid"),
        ("no JSON", None, "invalid"),
        ('{"a": "b"', None, "invalid"),
        ("", None, "invalid"),
    ],
)
def test_json_of_a_schema(said: str, parsed: Any, problem: str | None, cache: CallCache) -> None:
    for _ in range(2):  # from the model, then from the cache
        [reply] = run(LocalClient(Scripted(lambda _: said), "m", cache), request("a", schema=SCHEMA))
        assert (reply.parsed, reply.problem) == (parsed, problem)


def test_sampled_requests_run_alone() -> None:
    """What a neighbour in a batch is must not change a sampled reply; greedy ones share a batch."""
    backend = Scripted()
    warm = {"temperature": 0.7, "seed": 3}
    run(
        LocalClient(backend, "m"),
        *(request("a", **warm), request("b"), request("c", **warm), request("d"), request("e", max_tokens=7)),
    )
    batches = sorted((batch["texts"], batch["temperature"], batch["seed"]) for batch in backend.batches)
    assert batches == [(["a"], 0.7, 3), (["b", "d"], 0.0, 0), (["c"], 0.7, 3), (["e"], 0.0, 0)]
    assert {batch["max_new_tokens"] for batch in backend.batches if batch["texts"] == ["e"]} == {7}


def test_a_batch_is_kept_before_the_next_one_runs(cache: CallCache) -> None:
    """A build that is stopped loses no more than the batch in hand."""

    def answer(text: str) -> str:
        if text == "c":
            raise KeyboardInterrupt
        return text.upper()

    warm = [request(text, temperature=0.5) for text in "abcd"]
    with pytest.raises(KeyboardInterrupt):
        run(LocalClient(Scripted(answer), "m", cache), *warm)
    backend = Scripted()
    replies = run(LocalClient(backend, "m", cache), *warm)
    assert [reply.text for reply in replies] == ["A", "B", "C", "D"]
    assert backend.asked == ["c", "d"]


def test_a_real_backend(tiny_backend: Callable[..., Any], cache: CallCache) -> None:
    backend = tiny_backend("chatml")
    requests = [
        request("PASS or FAIL?", max_tokens=4),
        request("What?", max_tokens=4, temperature=1.0, seed=1),
    ]
    first = run(LocalClient(backend, "tiny", cache), *requests)
    again = run(LocalClient(backend, "tiny", cache), *requests)
    fresh = run(LocalClient(backend, "tiny"), *requests)
    texts = [[reply.text for reply in replies] for replies in (first, again, fresh)]
    assert texts[0] == texts[1] == texts[2]
    assert all(reply.cached for reply in again) and not any(reply.cached for reply in first)
