"""An OpenAI-compatible chat server on loopback that fails in known ways, in a process of its own.

    with FaultServer(tmp_path / "log.jsonl", faults={"429": 0.1, "drop": 0.05, "refusal": 0.02}) as server:
        client = ChatClient(EndpointConfig(base_url=server.base_url, model="m"))

**Answers** are made by a function, named as ``module:function`` (``answer=``). It gets the request body, a
dict, and returns the reply's content: a text, or a value that is sent as JSON. The same request must always
get the same answer. A drill can read its task out of the messages there. :func:`by_schema` (the default)
makes an instance of the request's JSON schema.

**Faults** come in shares, drawn from the seed, the request and how often that request has come before:

    a status ("429", "500", ...)   an error that says ``message``; 429 and 503 with ``Retry-After``
    timeout                        no answer for ``hold`` seconds, then the connection closes
    drop                           the connection closes: before the answer, or in the middle of it
    refusal, filtered, empty       a reply that says nothing, in three ways
    truncated, invalid, schema     JSON cut short, no JSON, JSON of another schema

One request meets at most ``most`` of them before it is answered; ``None`` is without end. ``stubborn`` holds
shares of the last two lines that hit a request every time it comes.

**The log** holds a line for each request, written after its response: ``key`` (:func:`call_key` of its body),
``attempt`` (from 0), ``time`` of arrival, and ``outcome``: ``answered``, the fault, or ``gone`` when the
client had left.

Alone, ``python -m tests.fault_server --log FILE`` prints its base URL and serves until it is killed.
"""

import argparse
import asyncio
import importlib
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
Answer = Callable[[dict[str, Any]], Any]


def call_key(body: bytes) -> str:
    """What names a request in the log: the digest of its body."""
    return sha256(body).hexdigest()


def verdict(request: dict[str, Any]) -> Any:
    """What a judge would say: the label word, ``FAIL`` where a bad answer stands in the prompt."""
    return "FAIL" if "<answer>\nbad" in request["messages"][-1]["content"] else "PASS"


def by_schema(request: dict[str, Any]) -> Any:
    """An instance of the request's schema, or a short text where it has none."""
    rng = random.Random(json.dumps(request, sort_keys=True))
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    return _instance(schema, rng) if schema else _text(rng)


def _text(rng: random.Random) -> str:
    return f"text {rng.getrandbits(32):08x}"


def _instance(schema: Mapping[str, Any], rng: random.Random) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            return {name: _instance(part, rng) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [_instance(schema["items"], rng) for _ in range(schema.get("minItems", 1))]
        case "integer" | "number":
            return rng.randint(schema.get("minimum", 0), schema.get("maximum", 100))
        case "boolean":
            return rng.random() < 0.5
        case _:
            return _text(rng)


class FaultServer:
    """Starts the server when entered and kills it when left; settings are the options of :func:`main`."""

    def __init__(self, log: Path, **settings: Any):
        self.log = log
        self.settings = settings
        self.base_url = ""

    def __enter__(self) -> "FaultServer":
        command = [sys.executable, "-m", "tests.fault_server", "--log", str(self.log)]
        for name, value in self.settings.items():
            command += [f"--{name.replace('_', '-')}", value if isinstance(value, str) else json.dumps(value)]
        self.log.touch()
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.base_url = self._process.stdout.readline().strip()
        assert self.base_url, "the server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def requests(self) -> list[dict[str, Any]]:
        """The log so far."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def outcomes(self) -> Counter[str]:
        """How many requests had each outcome."""
        return Counter(row["outcome"] for row in self.requests())


class _Connection(asyncio.Protocol):
    """One keep-alive connection; requests come one after another, with a Content-Length."""

    def __init__(self, settings: argparse.Namespace, answer: Answer, seen: Counter[str], log: IO[str]):
        self.settings, self.answer, self.seen, self.log = settings, answer, seen, log
        self.buffer = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, end, rest = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.decode("latin-1").split("\r\n")
        fields = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in fields}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        self.handle(lines[0], headers, rest[:length])

    def handle(self, line: str, headers: Mapping[str, str], body: bytes) -> None:
        settings, wanted = self.settings, f"Bearer {self.settings.key}"
        key = call_key(body)
        attempt = self.seen[key]
        self.seen[key] += 1
        if not line.startswith("POST /v1/chat/completions "):
            outcome = "404"
        elif settings.key and headers.get("authorization") != wanted:
            outcome = "401"
        else:
            outcome = self.fault(json.loads(body), key, attempt) or "answered"
        row = {"key": key, "attempt": attempt, "time": time.time()}
        delay = settings.hold if outcome == "timeout" else settings.latency
        asyncio.get_running_loop().call_later(delay, self.respond, body, outcome, row)

    def fault(self, request: dict[str, Any], key: str, attempt: int) -> str | None:
        settings = self.settings
        stubborn = _draw(settings.stubborn, f"{settings.seed}:{request['messages']}")
        if stubborn or (settings.most is not None and attempt >= settings.most):
            return stubborn
        return _draw(settings.faults, f"{settings.seed}:{key}:{attempt}")

    def respond(self, body: bytes, outcome: str, row: dict[str, Any]) -> None:
        if self.transport.is_closing():
            outcome = "gone"
        # Before the reply: whoever has it may read the log at once.
        self.log.write(json.dumps({**row, "outcome": outcome}) + "\n")
        self.log.flush()
        if outcome == "gone":
            return
        if outcome == "timeout":
            self.transport.close()
        elif outcome.isdigit():
            self.write(int(outcome), json.dumps({"error": {"message": self.settings.message, "code": None}}))
        else:
            text = json.dumps(completion(json.loads(body), self.answer, outcome), ensure_ascii=False)
            self.write(200, text, part=random.choice([0.0, 0.5]) if outcome == "drop" else 1.0)

    def write(self, status: int, text: str, part: float = 1.0) -> None:
        body = text.encode()
        retry = f"Retry-After: {self.settings.retry_after}\r\n" if status in (429, 503) else ""
        head = f"HTTP/1.1 {status} Status\r\n{retry}Content-Length: {len(body)}\r\n\r\n"
        response = head.encode() + body
        self.transport.write(response[: int(len(response) * part)])
        if part < 1:
            self.transport.close()


def _draw(shares: Mapping[str, float], seed: str) -> str | None:
    """One of the names, each with its share of the draws; else none."""
    point = random.Random(seed).random()
    for name, share in shares.items():
        point -= share
        if point < 0:
            return name
    return None


def completion(request: dict[str, Any], answer: Answer, outcome: str) -> dict[str, Any]:
    """A chat completion: the answer, or what a content fault makes of it."""
    value = answer(request)
    content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    finish = "stop"
    match outcome:
        case "refusal":
            message |= {"content": None, "refusal": "I cannot help with that."}
        case "filtered":
            message["content"], finish = None, "content_filter"
        case "empty":
            message["content"] = ""
        case "truncated":
            message["content"], finish = content[: len(content) // 2], "length"
        case "invalid":
            message["content"] = content[:-1] + ", oops"
        case "schema":
            message["content"] = json.dumps({"another": "shape"})
    words = (message["content"] or "").split()
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    usage = {"prompt_tokens": len(json.dumps(request["messages"])) // 4, "completion_tokens": len(words)}
    return {"object": "chat.completion", "model": request["model"], "choices": [choice], "usage": usage}


async def _serve(settings: argparse.Namespace) -> None:
    module, _, function = settings.answer.partition(":")
    answer: Answer = getattr(importlib.import_module(module), function)
    seen: Counter[str] = Counter()
    with settings.log.open("a", encoding="utf-8") as log:
        server = await asyncio.get_running_loop().create_server(
            lambda: _Connection(settings, answer, seen, log), "127.0.0.1", 0, backlog=1024
        )
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description="A chat server on loopback that fails in known ways.")
    parser.add_argument("--log", type=Path, required=True, help="appended to; a later server goes on with it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answer", default="tests.fault_server:by_schema")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before any response")
    parser.add_argument("--faults", type=json.loads, default={})
    parser.add_argument("--stubborn", type=json.loads, default={})
    parser.add_argument("--most", type=json.loads, default=2)
    parser.add_argument("--message", default="scripted")
    parser.add_argument("--retry-after", default="0")
    parser.add_argument("--hold", type=float, default=30.0)
    parser.add_argument("--key", default="", help="the only API key that is let in; any by default")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
