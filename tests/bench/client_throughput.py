"""Calls per second of the chat client, with its cache, next to a bare httpx2 loop and the ideal, on loopback.

    python -m tests.bench.client_throughput --calls 4000 --rounds 3 [--openai]

A server in its own process answers every call after 50 ms. The sides take turns, so that both meet the same
machine. Exit code 1 when the client is below 80 % of the lower of the ideal and the bare loop. ``--openai``
measures calls through the ``openai`` package, which must be installed, as a third side.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from judge.remote import CallCache, ChatClient, ChatRequest, EndpointConfig
from tests.fault_server import FaultServer

WANTED = 0.8
SCHEMA = {
    "type": "object",
    "properties": {"REASONING": {"type": "string"}, "SCORE": {"enum": ["PASS", "FAIL"]}},
    "required": ["REASONING", "SCORE"],
    "additionalProperties": False,
}


def make_requests(round_: int, calls: int) -> list[ChatRequest]:
    """As many different requests of about 1,000 characters."""
    texts = [f"{round_}:{call} " + "word " * 200 for call in range(calls)]
    return [ChatRequest([{"role": "user", "content": text}], schema=SCHEMA) for text in texts]


def through_client(base_url: str, cache_file: Path, requests: list[ChatRequest], connections: int) -> None:
    """Every reply checked against its schema and kept."""
    config = EndpointConfig(base_url=base_url, model="m", concurrency=connections)
    with CallCache(cache_file) as cache:
        for reply in ChatClient(config, cache=cache).run(requests):
            assert reply.parsed is not None
            assert not reply.cached


async def in_a_loop(
    call: Callable[[dict[str, Any]], Awaitable[Any]], bodies: Iterable[dict[str, Any]], workers: int
) -> None:
    """As many workers as there are connections, each with one call after another."""
    left = iter(bodies)

    async def work() -> None:
        for body in left:
            await call(body)

    await asyncio.gather(*(work() for _ in range(workers)))


async def through_httpx(base_url: str, bodies: list[dict[str, Any]], connections: int) -> None:
    """A bare loop: post, read the JSON, forget it."""
    import httpx2

    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    async with httpx2.AsyncClient(limits=limits, timeout=60) as http:

        async def call(body: dict[str, Any]) -> None:
            (await http.post(f"{base_url}/chat/completions", json=body)).json()

        await in_a_loop(call, bodies, connections)


async def through_openai(base_url: str, bodies: list[dict[str, Any]], connections: int) -> None:
    """The ``openai`` package without retries, raw responses."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:

        async def call(body: dict[str, Any]) -> None:
            response = await client.chat.completions.with_raw_response.create(**body)
            json.loads(response.content)

        await in_a_loop(call, bodies, connections)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--openai", action="store_true")
    settings = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}

    def measure(side: str, run: Callable[[], None]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        found.setdefault(side, []).append((time.perf_counter() - wall, time.process_time() - cpu))

    with (
        tempfile.TemporaryDirectory() as folder,
        FaultServer(Path(folder, "server.jsonl"), latency=settings.latency) as server,
    ):
        for round_ in range(settings.rounds):
            requests = make_requests(round_, settings.calls)
            bodies = [json.loads(request.body("m")) for request in requests]
            bare = through_httpx(server.base_url, bodies, settings.connections)
            measure("bare httpx2", partial(asyncio.run, bare))
            cache = Path(folder, f"{round_}.sqlite")
            ours = partial(through_client, server.base_url, cache, requests, settings.connections)
            measure("client", ours)
            if settings.openai:
                theirs = through_openai(server.base_url, bodies, settings.connections)
                measure("openai", partial(asyncio.run, theirs))
    ideal = settings.connections / settings.latency
    print(f"{'ideal':12} {ideal:7,.0f} calls/s")
    speeds = {}
    for side, rounds in found.items():
        speeds[side] = settings.calls / statistics.median(wall for wall, _ in rounds)
        cpu = statistics.median(cpu for _, cpu in rounds) / settings.calls
        print(f"{side:12} {speeds[side]:7,.0f} calls/s, {cpu * 1e6:5,.0f} us of CPU time a call")
    ratio = speeds["client"] / min(ideal, speeds["bare httpx2"])
    print(f"client against the lower of ideal and bare: {ratio:.0%} (wanted: at least {WANTED:.0%})")
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
