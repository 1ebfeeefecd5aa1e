"""The HTTP server: its contract, its batches and queue, its limits, and how it stops."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from judge.baselines.rules import TrivialBaseline
from judge.checker import Checker
from judge.cli.main import main
from judge.errors import InputError
from judge.judge import Judge
from judge.load import load_judge
from judge.samples import sample_from_row
from judge.serving.limits import PROMPT_TOKENS, Limits
from judge.types import Label, Mode, Sample, Verdict
from tests.calling import Refused

httpx2 = pytest.importorskip("httpx2")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")

ROOT = Path(__file__).resolve().parents[2]
ONE = {"document": "The tower is 20 m high.", "question": "How high?", "answer": "20 m."}
JSON = {"content-type": "application/json"}


class Slow(Checker):
    """A judge that remembers its batches and takes its time; answers ``boom`` make it fail."""

    name, chunk = "slow", 256
    mode: Mode = "verdict"

    def __init__(self, seconds: float = 0.0):
        self.seconds = seconds
        self.batches: list[list[str]] = []
        self.release = threading.Event()
        self.release.set()

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        self.batches.append([sample.id for sample in samples])
        time.sleep(self.seconds)
        assert self.release.wait(10)
        for sample in samples:
            if sample.answer == "boom":
                raise ValueError("a secret of the server")
            yield Verdict(Label.FAIL if "no" in sample.answer else Label.PASS, 0.25, raw="PASS")

    check_chunk = iter_check

    def describe(self) -> dict[str, Any]:
        return {"model": "slow"}


class Running:
    """A server in a thread of this process, on a free port."""

    def __init__(self, checker: Any, limits: Limits | None = None, token: str | None = None):
        from judge.serving.app import create_app

        self.app = create_app(checker, limits, token)
        self.server = uvicorn.Server(uvicorn.Config(self.app, log_level="critical"))
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()
        self.client = httpx2.Client(base_url=self.url, timeout=20)

    def judge(self, *samples: dict[str, Any], **more: Any) -> Any:
        return self.client.post("/v1/judge", json={"samples": list(samples)}, **more)

    def metric(self, name: str) -> float:
        for line in self.client.get("/metrics").text.splitlines():
            if line.rpartition(" ")[0] == name:
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"no metric {name}")

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.client.close()
        assert not self.thread.is_alive()


@pytest.fixture
def run() -> Iterator[Callable[..., Running]]:
    servers: list[Running] = []

    def start(*arguments: Any, **more: Any) -> Running:
        servers.append(Running(*arguments, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def baseline() -> Iterator[Running]:
    server = Running(TrivialBaseline("baseline:always-fail"))
    yield server
    server.stop()


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60  # a busy machine takes its time
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)


# --- What is answered ---------------------------------------------------------------------------------------


def test_the_server_says_what_the_judge_says(
    run: Callable[..., Running], tiny_backend: Callable[..., Any]
) -> None:
    judge = Judge(tiny_backend("chatml"))
    rows = [
        {"document": [f"Tower {n} is {n} m high.", "It is old."], "answer": "一百米", "language": "zh"}
        | ({"task": "summarization"} if n % 2 else {"question": "多高？"})
        for n in range(6)
    ]
    samples = [
        Sample(f"row-{n}", tuple(row["document"]), row["answer"], row.get("question", ""),
               row.get("task", "qa"), row["language"])
        for n, row in enumerate(rows, start=1)
    ]  # fmt: skip
    wanted = judge.check(samples)
    response = run(judge, Limits(max_batch=4)).judge(*rows)
    found = response.json()["verdicts"]
    assert response.status_code == 200 and set(found[0]) == {"id", *Verdict.__dataclass_fields__}
    assert [verdict["id"] for verdict in found] == [sample.id for sample in samples]
    assert [verdict["label"] for verdict in found] == [verdict.label for verdict in wanted]
    expected = [verdict.p_fail for verdict in wanted]
    assert [verdict["p_fail"] for verdict in found] == pytest.approx(expected, abs=1e-5)
    assert found[0]["usage"]["prompt_tokens"] == wanted[0].usage.prompt_tokens > 0


def test_a_sample_without_verdict_says_why(
    run: Callable[..., Running], tiny_backend: Callable[..., Any]
) -> None:
    server = run(Judge(tiny_backend("chatml", max_length=500)))
    long, short = server.judge(ONE | {"answer": "word " * 2000}, ONE).json()["verdicts"]
    assert long["label"] is None and "answer" in long["error"]
    assert short["label"] in ("PASS", "FAIL") and short["error"] is None


def test_claims_are_told_where_they_are_asked_for(run: Callable[..., Running]) -> None:
    judge = TrivialBaseline("baseline:always-fail")
    server = run(judge, Limits(max_sentences=3, max_batch=8, max_wait_ms=50))
    row = ONE | {"document": "The tower is 20 m high. \U0001d538 It is old.", "answer": "20 m. It is old."}
    body = {"samples": [row], "claims": True}
    with ThreadPoolExecutor(2) as pool:  # both kinds in one batch
        plain, told = pool.submit(server.judge, row), pool.submit(server.client.post, "/v1/judge", json=body)
        assert plain.result().json()["verdicts"][0]["claims"] == []
        found = told.result().json()["verdicts"][0]
    sample = Sample("row-1", row["document"], row["answer"], row["question"])
    [wanted] = load_judge("baseline:always-fail", claims=True).check([sample])
    assert found["claims"] == json.loads(json.dumps([asdict(claim) for claim in wanted.claims]))
    assert found["windows"] == [asdict(window) for window in wanted.windows] and len(found["claims"]) == 2
    many = server.client.post("/v1/judge", json=body | {"samples": [row, row]})
    assert many.status_code == 413 and "4 sentences" in many.json()["detail"]
    assert server.judge(row, row).status_code == 200


def test_model_and_health(run: Callable[..., Running]) -> None:
    server = run(Slow())
    assert server.client.get("/health").json() == {"status": "ok"}
    found = server.client.get("/v1/model").json()
    assert (found["model"], found["mode"], found["describe"]) == ("slow", "verdict", {"model": "slow"})


def test_metrics_count_requests_verdicts_and_batches(run: Callable[..., Running]) -> None:
    server = run(Slow())
    server.judge(ONE, ONE | {"answer": "no"})
    server.client.get("/nowhere/else")
    server.judge()
    assert server.metric('judge_verdicts_total{label="PASS"}') == 1
    assert server.metric('judge_verdicts_total{label="FAIL"}') == 1
    assert server.metric('judge_requests_total{path="/v1/judge",status="200"}') == 1
    assert server.metric('judge_requests_total{path="/v1/judge",status="422"}') == 1
    assert server.metric('judge_requests_total{path="other",status="404"}') == 1
    assert server.metric("judge_batch_samples_sum") == 2
    assert server.metric("judge_queue_samples") == 0


# --- Batches and the queue ----------------------------------------------------------------------------------


def test_requests_that_arrive_together_are_judged_together(run: Callable[..., Running]) -> None:
    judge = Slow(0.05)
    server = run(judge, Limits(max_batch=8, max_wait_ms=20))
    with ThreadPoolExecutor(32) as pool:
        responses = list(pool.map(lambda n: server.judge(ONE | {"id": str(n)}), range(32)))
    assert [response.json()["verdicts"][0]["id"] for response in responses] == [str(n) for n in range(32)]
    assert sorted(name for batch in judge.batches for name in batch) == sorted(map(str, range(32)))
    assert max(map(len, judge.batches)) == 8 and len(judge.batches) < 16


def test_a_full_queue_refuses_and_says_when_to_come_back(run: Callable[..., Running]) -> None:
    judge = Slow()
    server = run(judge, Limits(max_batch=1, max_queue=2, max_samples=2))
    judge.release.clear()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(server.judge, ONE)
        wait_until(lambda: len(judge.batches) == 1)
        second = pool.submit(server.judge, ONE)
        wait_until(lambda: server.metric("judge_queue_samples") == 1)
        whole = server.judge(ONE, ONE)  # one place is left, and half a request is not taken
        assert whole.status_code == 429 and server.metric("judge_queue_samples") == 1
        third = pool.submit(server.judge, ONE)
        wait_until(lambda: server.metric("judge_queue_samples") == 2)
        refused = server.judge(ONE)
        assert refused.status_code == 429 and 1 <= int(refused.headers["retry-after"]) <= 60
        assert "queue is full" in refused.json()["detail"]
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=5)) as connection:
            connection.sendall(head(100))  # the body is not waited for
            assert connection.recv(1000).startswith(b"HTTP/1.1 429")
        judge.release.set()
        assert {task.result().status_code for task in (first, second, third)} == {200}
    assert server.judge(ONE).status_code == 200


class Continuous(Slow):
    """A judge whose engine makes its own batches: what is said to be long waits for its release."""

    at_once = 8

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        self.batches.append([sample.id for sample in samples])
        if "long" in samples[0].answer:
            assert self.release.wait(10)
        yield from (Verdict(Label.PASS, 0.25, raw=sample.id) for sample in samples)

    check_chunk = iter_check


def test_an_engine_of_its_own_batches_gets_samples_as_they_come(run: Callable[..., Running]) -> None:
    judge = Continuous()
    server = run(judge, Limits(max_batch=3, max_wait_ms=10_000))
    judge.release.clear()
    with ThreadPoolExecutor(4) as pool:
        both = pool.submit(server.judge, ONE | {"answer": "long"}, ONE | {"answer": "long"})
        wait_until(lambda: len(judge.batches) == 2)
        assert server.judge(ONE).status_code == 200  # does not wait for what came before it
        third = pool.submit(server.judge, ONE | {"id": "third", "answer": "long"})
        wait_until(lambda: len(judge.batches) == 4)
        waits = pool.submit(server.judge, ONE | {"id": "waits"})  # three are in work
        wait_until(lambda: server.metric("judge_queue_samples") == 1)
        judge.release.set()
        assert [verdict["raw"] for verdict in both.result().json()["verdicts"]] == ["row-1", "row-2"]
        for task, name in ((third, "third"), (waits, "waits")):
            assert task.result().json()["verdicts"][0]["raw"] == name
    assert max(map(len, judge.batches)) == 1


def test_what_a_client_that_left_had_asked_is_not_judged(run: Callable[..., Running]) -> None:
    judge = Slow()
    server = run(judge, Limits(max_batch=1))
    judge.release.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.judge, ONE)
        wait_until(lambda: len(judge.batches) == 1)
        body = json.dumps({"samples": [ONE | {"id": f"abandoned-{at}"} for at in range(5)]}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as impatient:
            impatient.sendall(head(len(body)) + body)
            wait_until(lambda: server.metric("judge_queue_samples") == 5)
        wait_until(lambda: server.metric("judge_queue_samples") == 0)
        judge.release.set()
        assert first.result().status_code == 200
    assert server.metric('judge_requests_total{path="/v1/judge",status="499"}') == 1
    assert judge.batches == [["row-1"]]


def test_only_the_sample_at_fault_fails(run: Callable[..., Running]) -> None:
    server = run(Slow(), Limits(max_wait_ms=100))
    with ThreadPoolExecutor(8) as pool:
        answers = ["yes", "boom", "yes", "yes"]
        responses = list(pool.map(lambda answer: server.judge(ONE | {"answer": answer}), answers))
    assert [response.status_code for response in responses] == [200, 500, 200, 200]
    assert "secret" not in responses[1].text and "log" in responses[1].json()["detail"]
    assert server.judge(ONE).status_code == 200


# --- What is refused ----------------------------------------------------------------------------------------


def head(length: int, more: str = "") -> bytes:
    lines = f"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{more}"
    return f"{lines}Content-Length: {length}\r\n\r\n".encode()


def field(**values: Any) -> bytes:
    return json.dumps({"samples": [ONE | values]}).encode()


MALFORMED = {
    "no JSON": (b"hello", 400),
    "cut off": (b'{"samples": [{"document": "x", ', 400),
    "not UTF-8": (b'{"samples": [{"document": "\xff\xfe", "answer": "x"}]}', 400),
    "half a character": (b'{"samples": [{"document": "\\ud800", "answer": "x"}]}', 400),
    "deep lists": (b"[" * 100_000, 400),
    "deep and closed": (b"[" * 50_000 + b"]" * 50_000, 400),
    "a long number": (b'{"samples": ' + b"9" * 100_000 + b"}", (400, 422)),
    "a list": (b"[]", 422),
    "a key twice": (b'{"samples": [{"document": "x", "answer": "x", "answer": "y"}]}', 400),
    "not a number": (b'{"samples": NaN}', (400, 422)),
    "none": (b'{"samples": []}', 422),
    "an unknown field": (field(lable="PASS"), 422),
    "no answer": (b'{"samples": [{"document": "x"}]}', 422),
    "an invisible answer": (field(answer="\u2060\u00ad"), 422),
    "a sample that is not an object": (b'{"samples": ["x"]}', 422),
    "another language": (field(language="fr"), 422),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_bodies_are_refused_and_nothing_else_happens(
    name: str, baseline: Running, capfd: pytest.CaptureFixture[str]
) -> None:
    body, wanted = MALFORMED[name]
    before = baseline.metric("judge_batch_samples_count")
    response = baseline.client.post("/v1/judge", content=body, headers=JSON)
    assert response.status_code in (wanted if isinstance(wanted, tuple) else (wanted,)), response.text
    assert set(response.json()) == {"detail"} and len(response.text) < 500
    assert baseline.metric("judge_batch_samples_count") == before
    assert baseline.judge(ONE).status_code == 200
    assert capfd.readouterr() == ("", "")


def test_samples_come_in_the_forms_that_batch_takes(baseline: Running) -> None:
    """As rows of a file, with a label and after a byte order mark too; refusals are alike."""
    row = ONE | {"id": 7, "question": None, "task": "QA", "language": "EN", "label": 1, "group": "g"}
    body = b"\xef\xbb\xbf" + json.dumps({"samples": [row]}).encode()
    response = baseline.client.post("/v1/judge", content=body, headers=JSON)
    assert response.status_code == 200 and response.json()["verdicts"][0]["id"] == "7"
    for wrong, place in (
        ({"answer": "\u200b"}, "answer"),
        ({"query": "x"}, "query"),
        ({"task": "qua"}, "task"),
    ):
        with pytest.raises(InputError) as refused:
            sample_from_row(ONE | wrong)
        detail = baseline.judge(ONE | wrong).json()["detail"]
        assert detail == f"samples.0.{place}: {refused.value.found}"
    for given in ({"id": "a"}, {"id": "a"}), ({"id": "row-2"}, {}):
        detail = baseline.judge(*(ONE | more for more in given)).json()["detail"]
        assert detail == f"samples.1.id: {given[0]['id']!r} is already that of samples.0"
    assert baseline.judge(ONE | {"task": "", "language": ""}).status_code == 200
    assert baseline.client.post("/v1/judge", json={"samples": [ONE], "claims": 0.0}).status_code == 422
    for wrong in ({"sample": [ONE]}, {"samples": [ONE], "sample": 1}):
        detail = baseline.client.post("/v1/judge", json=wrong).json()["detail"]
        assert detail.startswith("sample: unknown field 'sample'; did you mean 'samples'? (known: claims")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=utf-16"]
)
def test_only_json_is_read(kind: str, baseline: Running) -> None:
    response = baseline.client.post("/v1/judge", content=field(), headers={"content-type": kind})
    assert response.status_code == 415
    good = baseline.client.post(
        "/v1/judge", content=field(), headers={"content-type": "Application/JSON; charset=utf-8"}
    )
    assert good.status_code == 200


def test_sizes_are_limited(run: Callable[..., Running]) -> None:
    judge = Slow()
    server = run(judge, Limits(max_samples=2, max_characters=1000, max_body_bytes=5000))
    assert server.judge(ONE, ONE).status_code == 200
    many = server.judge(ONE, ONE, ONE)
    assert many.status_code == 413 and "3 samples" in many.json()["detail"]
    for field_name in ("document", "question", "answer"):
        long = server.judge(ONE | {field_name: "x" * 1001})
        assert long.status_code == 413 and "characters" in long.json()["detail"]
    told = server.judge(ONE | {"document": "x" * 6000})
    assert told.status_code == 413 and "bytes" in told.json()["detail"]
    chunks = iter([b"x" * 1000] * 100)  # a body of unknown length
    streamed = server.client.post("/v1/judge", content=chunks, headers=JSON)
    assert streamed.status_code == 413
    assert len(judge.batches) == 1


@pytest.mark.parametrize(
    ("limits", "token", "length", "status"),
    [(None, None, 10**15, 413), (None, "secret", 100, 401), (Limits(body_seconds=0.2), None, 100, 408)],
    ids=["huge", "without the token", "never comes"],
)
def test_a_body_that_is_not_read(
    limits: Limits | None, token: str | None, length: int, status: int, run: Callable[..., Running]
) -> None:
    server = run(Slow(), limits, token)
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=5)) as connection:
        connection.sendall(head(length))
        assert connection.recv(1000).startswith(f"HTTP/1.1 {status}".encode())


def test_a_client_that_leaves_within_its_body_is_no_failure(
    run: Callable[..., Running], capfd: pytest.CaptureFixture[str]
) -> None:
    server = run(Slow())
    with closing(socket.create_connection(("127.0.0.1", server.port))) as connection:
        connection.sendall(head(100) + b'{"samples"')
    path = 'judge_requests_total{path="/v1/judge",status="499"}'
    wait_until(lambda: path in server.client.get("/metrics").text)
    assert capfd.readouterr() == ("", "")


# --- Tokens -------------------------------------------------------------------------------------------------


def test_a_token_is_wanted_where_there_is_one(run: Callable[..., Running]) -> None:
    server = run(Slow(), token="päss wort")
    right = {"authorization": "Bearer päss wort".encode()}
    for path in ("/v1/model", "/metrics"):
        assert server.client.get(path).status_code == 401
        assert server.client.get(path, headers=right).status_code == 200
    assert server.client.get("/health").status_code == 200
    wrong = ["Bearer", "Bearer päss", "Basic päss wort", "päss wort", "Bearer päss wort2", "\xff"]
    for value in wrong:
        refused = server.judge(ONE, headers={"authorization": value.encode()})
        assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer", value
    assert server.judge(ONE, headers=right).status_code == 200


# --- How it starts and stops --------------------------------------------------------------------------------


def test_stopping_answers_what_was_accepted(run: Callable[..., Running]) -> None:
    judge = Slow(0.05)
    server = run(judge, Limits(max_batch=2, max_wait_ms=0))
    with ThreadPoolExecutor(16) as pool:
        tasks = [pool.submit(server.judge, ONE) for _ in range(16)]
        wait_until(lambda: server.metric("judge_queue_samples") + 2 * len(judge.batches) >= 16)
        server.server.should_exit = True
        assert [task.result().status_code for task in tasks] == [200] * 16
    server.thread.join(10)
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{server.url}/health")


@pytest.mark.parametrize(("options", "bound"), [([], PROMPT_TOKENS), (["--set", "max_length=99"], 99)])
def test_the_command_bounds_the_tokens_of_a_prompt(
    options: list[str], bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model with a longer context would take memory in proportion for a single request."""
    asked: list[Any] = []

    def load(model: str, **settings: Any) -> None:
        asked.append(settings["max_length"])
        raise InputError("this is enough")

    monkeypatch.setattr("judge.load.load_judge", load)
    with pytest.raises(SystemExit):
        main(["serve", "--model", "m", "--port", "0", *options])
    assert asked == [bound]


def test_a_baseline_is_not_looked_for_on_the_hub(monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    monkeypatch.setattr("judge.models.identity.fetch", lambda *_: pytest.fail("asked the Hub"))
    monkeypatch.setattr("judge.serving.app.create_app", Mock(side_effect=InputError("this is enough")))
    assert "this is enough" in refused("serve", "--model", "baseline:always-pass", "--port", "0")


def test_the_command_answers_and_ends_well_on_sigterm() -> None:
    command = [sys.executable, "-m", "judge", "serve", "--model", "baseline:always-pass", "--port", "0"]
    with subprocess.Popen(
        [*command, "--set", "max_wait_ms=1000"],
        cwd=ROOT, env=os.environ | {"JUDGE_API_TOKEN": "secret\n"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().split()[-1]
        headers = {"authorization": "Bearer secret"}
        with ThreadPoolExecutor(1) as pool:
            task = pool.submit(
                httpx2.post, f"{url}/v1/judge", json={"samples": [ONE]}, headers=headers, timeout=60
            )
            wait_until(
                lambda: "judge_queue_samples 1.0" in httpx2.get(f"{url}/metrics", headers=headers).text
            )
            process.send_signal(signal.SIGTERM)
            assert task.result().json()["verdicts"][0]["label"] == "PASS"
        assert process.wait(60) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "baseline:length"], "learns from the labels"),
        (["--model", "baseline:always-pass", "--host", "256.1.1.1"], "cannot listen on 256.1.1.1"),
        (["--model", "baseline:always-pass", "--set", "max_queue=2"], "max-samples"),
    ],
)
def test_wrong_calls_get_one_line(arguments: list[str], message: str, refused: Refused) -> None:
    assert message in refused("serve", *arguments, "--port", "0")


def test_an_empty_token_is_told(monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    monkeypatch.setenv("JUDGE_API_TOKEN", " ")
    assert "set and empty" in refused("serve", "--model", "baseline:always-pass", "--port", "0")


# --- The contract -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "secret"])
def test_the_server_keeps_its_openapi_contract(token: str | None, run: Callable[..., Running]) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import ignored_auth

    server = run(Slow(), token=token)
    # The check that expected a token takes away what it finds in a case, not a header that is given beside.
    call = {"headers": {"authorization": f"Bearer {token}"}, "excluded_checks": [ignored_auth]}
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    modes = schemathesis.GenerationMode
    tested = []
    for found in schema.get_all_operations():
        operation = found.ok()
        tested.append(operation.path)
        for mode in modes if operation.body else [modes.POSITIVE]:

            @settings(max_examples=30, deadline=None, derandomize=True, database=None,
                      phases=[Phase.generate], suppress_health_check=list(HealthCheck))  # fmt: skip
            @given(case=operation.as_strategy(generation_mode=mode))
            def keep_to_it(case: Any) -> None:
                case.call_and_validate(**call)

            keep_to_it()
    assert tested == ["/v1/judge", "/v1/model", "/health", "/metrics"]
