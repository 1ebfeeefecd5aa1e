"""The chat client against a real server on loopback that fails in known ways."""

import itertools
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError, JudgeError
from judge.remote import Budget, CallCache, ChatClient, ChatRequest, EndpointConfig, Prices, Reply
from judge.remote.client import LOOK_AHEAD
from judge.remote.transport import retry_after
from tests.fault_server import FaultServer

SCHEMA = {
    "type": "object",
    "properties": {"REASONING": {"type": "string"}, "SCORE": {"enum": ["PASS", "FAIL"]}},
    "required": ["REASONING", "SCORE"],
    "additionalProperties": False,
}
PROBLEMS = {
    "refusal": "refused", "filtered": "refused", "empty": "invalid", "truncated": "truncated",
    "invalid": "invalid", "schema": "invalid",
}  # fmt: skip


def make_requests(number: int, start: int = 0) -> list[ChatRequest]:
    texts = [f"Question {index}" for index in range(start, start + number)]
    return [ChatRequest([{"role": "user", "content": text}], SCHEMA, max_tokens=50) for text in texts]


def endpoint(base_url: str, **settings: Any) -> EndpointConfig:
    return EndpointConfig(base_url=base_url, model="m", **{"backoff": 0.01, **settings})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.jsonl"


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    with CallCache(tmp_path / "calls.sqlite") as opened:
        yield opened


def test_replies_come_in_order_and_are_kept_for_good(log: Path, cache: CallCache) -> None:
    requests = [*make_requests(60), *make_requests(20)]
    with FaultServer(log, faults={"500": 0.3}, most=3) as server:  # retries end in any order
        config = endpoint(server.base_url, concurrency=8)
        first = list(ChatClient(config, cache=cache).run(requests))
        assert server.outcomes()["answered"] == 60
        assert server.outcomes()["500"] > 5
    assert all(set(reply.parsed) == set(SCHEMA["properties"]) for reply in first)
    assert [reply.text for reply in first[60:]] == [reply.text for reply in first[:20]]
    assert len({reply.text for reply in first}) == 60
    again = list(ChatClient(config, cache=cache).run(requests))  # no server is there any more
    assert [reply.text for reply in again] == [reply.text for reply in first]
    assert all(reply.cached for reply in again)


@pytest.mark.parametrize("fault", ["429", "500", "drop", "timeout", *PROBLEMS])
def test_one_fault_is_overcome(fault: str, log: Path, cache: CallCache) -> None:
    with FaultServer(log, faults={fault: 1.0}, most=1, hold=2) as server:
        config = endpoint(server.base_url, timeout=1.0 if fault == "timeout" else 20.0)
        (reply,) = ChatClient(config, cache=cache).run(make_requests(1))
        assert (reply.problem, reply.cached) == (None, False)
        rows = [row for row in server.requests() if row["outcome"] == "answered"]
    assert [row["attempt"] for row in rows] == [1]


@pytest.mark.parametrize(("fault", "problem"), PROBLEMS.items())
def test_a_reply_that_stays_no_answer_is_a_problem(
    fault: str, problem: str, log: Path, cache: CallCache
) -> None:
    with FaultServer(log, stubborn={fault: 1.0}) as server:

        def ask(ask_again: int) -> Reply:
            config = endpoint(server.base_url, ask_again=ask_again)
            (reply,) = ChatClient(config, cache=cache).run(make_requests(1))
            return reply

        assert (ask(2).problem, ask(2).parsed, len(server.requests())) == (problem, None, 3)
        assert (ask(4).problem, len(server.requests())) == (problem, 5)


@pytest.mark.parametrize("status", ["400", "401", "404"])
def test_other_errors_are_never_sent_again(status: str, log: Path) -> None:
    with FaultServer(log, faults={status: 1.0}, most=None, message="read the manual") as server:
        with pytest.raises(InputError) as caught:
            list(ChatClient(endpoint(server.base_url, concurrency=1)).run(make_requests(3)))
        assert len(server.requests()) == 1
    for part in (server.base_url, status, "read the manual"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("status", "message", "problem"),
    [
        ("400", "This model's maximum context length is 4096 tokens.", "too_long"),
        ("413", "no", "too_long"),
        ("400", "content_filter triggered", "refused"),
    ],
)
def test_one_request_that_is_not_taken_stops_no_other(
    status: str, message: str, problem: str, log: Path, cache: CallCache
) -> None:
    with FaultServer(log, faults={status: 0.5}, most=None, message=message) as server:
        replies = list(ChatClient(endpoint(server.base_url), cache=cache).run(make_requests(20)))
        assert len(server.requests()) == 20
    found = {reply.problem for reply in replies}
    assert found == {None, problem}
    assert all(message in reply.detail for reply in replies if reply.problem)


@pytest.mark.parametrize("date", [False, True])
def test_retry_after_is_kept_to(date: bool, log: Path) -> None:
    until = (datetime.now(UTC) + timedelta(seconds=3)).replace(microsecond=0)
    value = format_datetime(until, usegmt=True) if date else "1.2"
    with FaultServer(log, faults={"429": 1.0}, most=1, retry_after=value) as server:
        list(ChatClient(endpoint(server.base_url)).run(make_requests(1)))
        first, second = (row["time"] for row in server.requests())
    assert second >= (until.timestamp() if date else first + 1.2)


def test_a_server_that_asks_for_hours_is_not_waited_for(log: Path) -> None:
    with (
        FaultServer(log, faults={"503": 1.0}, most=None, retry_after="7200") as server,
        pytest.raises(JudgeError, match="asks to wait 7,200 s"),
    ):
        list(ChatClient(endpoint(server.base_url)).run(make_requests(1)))


@given(st.text() | st.floats().map(str) | st.integers().map(str))
def test_any_retry_after_is_read(value: str) -> None:
    seconds = retry_after(value)
    assert seconds is None or 0 <= seconds < float("inf")


def test_a_dead_endpoint_is_one_clear_error_and_what_was_answered_is_kept(
    log: Path, cache: CallCache
) -> None:
    with FaultServer(log) as server:
        config = endpoint(server.base_url, retries=2, concurrency=2)
        answered = list(ChatClient(config, cache=cache).run(make_requests(5)))
    client = ChatClient(config, cache=cache)
    got = []
    with pytest.raises(JudgeError) as caught:
        got.extend(itertools.chain.from_iterable([reply] for reply in client.run(make_requests(50))))
    assert not isinstance(caught.value, InputError)
    for part in (server.base_url, "failed 3 times", "no connection", "kept in the call cache"):
        assert part in str(caught.value)
    assert [reply.text for reply in got] == [reply.text for reply in answered]


def test_a_dead_endpoint_is_given_up_soon_however_often_it_may_be_tried() -> None:
    begun = time.monotonic()
    with pytest.raises(JudgeError, match="no connection"):
        list(ChatClient(EndpointConfig(base_url="http://127.0.0.1:9/v1", model="m")).run(make_requests(50)))
    assert time.monotonic() - begun < 8


def test_a_server_of_another_kind_is_named(log: Path) -> None:
    with FaultServer(log) as server:
        config = endpoint(server.base_url.removesuffix("/v1"), retries=1)
        with pytest.raises(InputError, match=r"404.*base_url"):
            list(ChatClient(config).run(make_requests(1)))


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    key = "sk-very-secret-0123456789"
    with FaultServer(log, key=key, faults={"500": 0.3}, message=f"not {key}") as server:
        config = endpoint(server.base_url, key_variable="MY_TEACHER_KEY")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
        with pytest.raises(InputError, match=r"MY_TEACHER_KEY.*not set"):
            list(ChatClient(config).run(make_requests(1)))
        monkeypatch.setenv("MY_TEACHER_KEY", key)
        with CallCache(tmp_path / "calls.sqlite") as cache:
            client = ChatClient(config, cache=cache)
            assert len(list(client.run(make_requests(20)))) == 20
            for path in tmp_path.glob("calls.sqlite*"):
                assert key.encode() not in path.read_bytes()
    with FaultServer(log, faults={"401": 1.0}, most=None, message=f"not {key}") as server:
        config = endpoint(server.base_url, key_variable="MY_TEACHER_KEY")
        with pytest.raises(InputError, match=r"not \[key\]") as caught:
            list(ChatClient(config).run(make_requests(1)))
    assert key not in str(caught.value)
    assert key not in "".join(capfd.readouterr())
    monkeypatch.setenv("MY_TEACHER_KEY", "two\nlines")
    with pytest.raises(InputError, match="MY_TEACHER_KEY") as caught:
        list(ChatClient(config).run(make_requests(1)))
    assert "lines" not in str(caught.value)


def test_runs_at_once_keep_to_the_limit_together(log: Path) -> None:
    """Of five requests in a row the last comes when one of the others has been answered."""
    with FaultServer(log, latency=0.3) as server, ThreadPoolExecutor(3) as pool:
        client = ChatClient(endpoint(server.base_url, concurrency=4))
        runs = [pool.submit(lambda at=at: list(client.run(make_requests(6, start=at)))) for at in (0, 20, 40)]
        texts = [[reply.text for reply in run.result()] for run in runs]
        came = sorted(row["time"] for row in server.requests())
        assert len(came) == 18
        assert all(last - first >= 0.3 for first, last in zip(came, came[4:], strict=False))
        assert texts[1] == [reply.text for reply in client.run(make_requests(6, start=20))]


def test_a_failure_ends_the_runs_beside_it_and_no_later_one(log: Path) -> None:
    with FaultServer(log, latency=0.1, key="right") as server, ThreadPoolExecutor(2) as pool:
        client = ChatClient(endpoint(server.base_url, concurrency=2))
        for _ in range(2):
            with pytest.raises(InputError, match="401"):
                list(client.run(make_requests(3)))
            runs = [pool.submit(lambda: list(client.run(make_requests(3)))) for _ in range(2)]
            assert all(isinstance(run.exception(), InputError) for run in runs)


def test_requests_without_end_are_taken_a_bounded_number_ahead(log: Path) -> None:
    taken = 0

    def endless() -> Iterator[ChatRequest]:
        nonlocal taken
        for taken in itertools.count(1):
            yield make_requests(1, start=taken)[0]

    with FaultServer(log) as server:
        replies = ChatClient(endpoint(server.base_url, concurrency=3)).run(endless())
        for _ in range(30):
            next(replies)
            time.sleep(0.002)
        replies.close()
    assert 30 <= taken <= 30 + LOOK_AHEAD * 3


def test_a_source_that_fails_is_heard_and_its_calls_are_kept(log: Path, cache: CallCache) -> None:
    def failing() -> Iterator[ChatRequest]:
        yield from make_requests(5)
        raise InputError("row 6 is wrong")

    with FaultServer(log, latency=0.1) as server:
        with pytest.raises(InputError, match="row 6"):
            list(ChatClient(endpoint(server.base_url, concurrency=5), cache=cache).run(failing()))
        replies = list(ChatClient(endpoint(server.base_url), cache=cache).run(make_requests(5)))
        answered = [row["key"] for row in server.requests() if row["outcome"] == "answered"]
    assert len(answered) == len(set(answered)) == len(replies) == 5


def test_a_budget_stops_the_run_and_the_next_one_goes_on(log: Path, cache: CallCache) -> None:
    requests = make_requests(40)
    undisturbed: list[str] = []
    with FaultServer(log, latency=0.01, faults={"500": 0.1, "refusal": 0.1}) as server:
        config = endpoint(server.base_url, prices=Prices(prompt=1000, completion=4000))
        runs = 0
        while len(undisturbed) < 40 and runs < 40:
            runs += 1
            client = ChatClient(config, cache=cache, budget=Budget(tokens=700, money=1.0))
            undisturbed = []
            try:
                for reply in client.run(requests):
                    undisturbed.append(reply.text)
            except JudgeError as error:
                assert "run the same command again" in str(error)
            assert client.budget.spent.tokens <= 700
            assert client.budget.spent.cost <= 1.0
        answered = [row["key"] for row in server.requests() if row["outcome"] == "answered"]
    assert runs > 2
    assert len(undisturbed) == len(answered) == len(set(answered)) == 40


def test_money_needs_prices() -> None:
    with pytest.raises(InputError, match="prices"):
        ChatClient(EndpointConfig(model="m"), budget=Budget(money=1))


def test_spending_is_what_the_server_counted_and_lost_calls_in_full(log: Path) -> None:
    with FaultServer(log, faults={"drop": 1.0, "500": 0}, most=1) as server:
        client = ChatClient(endpoint(server.base_url))
        (reply,) = client.run(make_requests(1))
    lost = len(make_requests(1)[0].body("m")) + 50
    assert client.budget.spent.calls == 2
    assert client.budget.spent.tokens == lost + reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_an_estimate_makes_no_call_and_knows_what_is_cached(log: Path, cache: CallCache) -> None:
    requests = make_requests(10)
    with FaultServer(log, stubborn={"refusal": 0.3}) as server:
        config = endpoint(server.base_url, prices=Prices(prompt=1, completion=10))
        client = ChatClient(config, cache=cache)
        before = client.estimate([*requests, *requests])
        assert server.requests() == []
        replies = list(client.run(requests[:4]))
    assert any(reply.problem for reply in replies)
    size = sum(-(-len(request.body("m")) // 4) for request in requests)
    assert (before.calls, before.cached, before.completion_tokens) == (10, 0, 500)
    assert before.prompt_tokens == size and "10 calls (0 more are in the cache)" in before.text()
    assert before.cost == pytest.approx((size + 500 * 10) / 1e6)
    after = client.estimate(requests, count_tokens=lambda messages: 7)
    assert (after.calls, after.cached, after.prompt_tokens) == (6, 4, 42)
    assert "tokenizer" in after.counted
