"""Load test of ``judge serve`` from another process, on loopback: latency, throughput, stopping, memory.

    python -m benchmarks.serve_load --model runs/demo/model --seconds 60 --connections 64 --requests 10000

1. Direct: samples/s of ``Judge.check`` in this process on the same samples, before the server starts.
2. Load: every connection sends one sample after another for some seconds; after a refusal (429) it waits as
   long as the server says. Condition: no other failure, and at least 85 % of the direct throughput.
3. Memory: the server's resident memory over many more requests. Condition: at most 5 % growth after the first
   tenth.
4. SIGTERM while every connection waits for a verdict: accepted requests are answered, and the exit code is 0.

Exit code 1 if any condition fails.
"""

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from judge.samples import read_samples
from judge.types import Sample

THROUGHPUT, GROWTH = 0.85, 1.05


def draw(data: Path | None, count: int) -> list[Sample]:
    """Samples of a file, or synthetic ones, of about 900 characters; each document has several answers."""
    if data is not None:
        return list(read_samples(data))[:count]
    facts = "The bridge of place {n} was built in {n}. It is {n} metres long and made of stone. " * 10
    return [
        Sample(f"s{n}", facts.format(n=1500 + n // 4), f"It was built in {1500 + n // 4 + n % 4}.", "When?")
        for n in range(count)
    ]


def body(sample: Sample) -> dict[str, Any]:
    """The request for one sample."""
    fields = ("id", "document", "question", "answer", "task", "language")
    return {"samples": [{name: getattr(sample, name) for name in fields}]}


class Load:
    """Connections that send requests continuously, and the outcomes of these."""

    def __init__(self, url: str, samples: list[Sample], connections: int):
        self.url, self.samples, self.connections = url, samples, connections
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.sent = 0

    async def run(self, goes_on: Callable[[], bool]) -> None:
        """Send requests on all connections while a condition holds."""
        import httpx2

        limits = httpx2.Limits(max_connections=self.connections, max_keepalive_connections=self.connections)
        async with httpx2.AsyncClient(base_url=self.url, limits=limits, timeout=300) as http:
            await asyncio.gather(*(self._ask(http, goes_on) for _ in range(self.connections)))

    async def _ask(self, http: Any, goes_on: Callable[[], bool]) -> None:
        import httpx2

        while goes_on():
            sample = self.samples[self.sent % len(self.samples)]
            self.sent += 1
            start = time.perf_counter()
            try:
                response = await http.post("/v1/judge", json=body(sample))
            except httpx2.ConnectError:
                self.outcomes["not accepted"] += 1
                continue
            except httpx2.HTTPError as error:
                self.outcomes[type(error).__name__] += 1
                continue
            if response.status_code == 429:
                self.outcomes["429"] += 1
                await asyncio.sleep(int(response.headers["retry-after"]))
                continue
            right = response.status_code == 200 and response.json()["verdicts"][0]["id"] == sample.id
            self.outcomes["200" if right else f"wrong {response.status_code}"] += 1
            self.seconds.append(time.perf_counter() - start)

    @property
    def failures(self) -> int:
        """Requests that were neither answered nor refused."""
        return self.outcomes.total() - self.outcomes["200"] - self.outcomes["429"]

    def percentiles(self) -> dict[str, float]:
        """Percentiles of the latency of answered requests, in seconds."""
        cuts = statistics.quantiles(self.seconds, n=100)
        return {f"p{cut}": cuts[cut - 1] for cut in (50, 95, 99)}

    def latency(self) -> str:
        """The percentiles as text."""
        return ", ".join(f"{name} {1000 * seconds:.0f} ms" for name, seconds in self.percentiles().items())


def direct(model: str, samples: list[Sample], seconds: float) -> float:
    """Samples/s of ``Judge.check`` without a server, after one chunk to warm up."""
    from judge.load import load_judge

    judge = load_judge(model)
    list(judge.iter_check(samples[:64]))
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        part = [samples[(done + number) % len(samples)] for number in range(64)]
        done += len(list(judge.iter_check(part)))
    return done / (time.perf_counter() - start)


def resident(process: int) -> float:
    """Resident memory of a process in MiB."""
    return psutil.Process(process).memory_info().rss / 2**20


async def stop_under_load(load: Load, server: "subprocess.Popen[str]") -> Counter[str]:
    """Send SIGTERM while all connections wait; returns the outcome of the last request of each."""
    before, stopping = load.outcomes.copy(), False
    asking = asyncio.create_task(load.run(lambda: not stopping))
    await asyncio.sleep(2)
    server.send_signal(signal.SIGTERM)
    stopping = True
    await asking
    return load.outcomes - before


def measure(
    model: str, samples: list[Sample], seconds: float, connections: int, requests: int
) -> tuple[dict[str, Any], bool]:
    """Measure and print; returns the figures, and whether all conditions hold."""
    speed = direct(model, samples, seconds / 2)
    print(f"direct    {speed:.1f} samples/s")
    command = [sys.executable, "-m", "judge", "serve", "--model", model, "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if name != "JUDGE_API_TOKEN"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]

        load = Load(url, samples, connections)
        end = time.perf_counter() + seconds
        asyncio.run(load.run(lambda: time.perf_counter() < end))
        rate = load.outcomes["200"] / (time.perf_counter() - end + seconds)
        print(f"server    {rate:.1f} samples/s ({rate / speed:.0%} of direct), {load.latency()}")
        print(f"          outcomes: {dict(load.outcomes)}")
        good = load.failures == 0 and rate >= THROUGHPUT * speed

        if requests:
            first = Load(url, samples, connections)
            asyncio.run(first.run(lambda: first.sent < requests // 10))
            begin = resident(server.pid)
            rest = Load(url, samples, connections)
            asyncio.run(rest.run(lambda: rest.sent < requests * 9 // 10))
            finish = resident(server.pid)
            print(
                f"memory    {begin:.0f} MiB after {first.sent} requests, {finish:.0f} after {rest.sent} more"
            )
            good = good and first.failures + rest.failures == 0 and finish <= GROWTH * begin

        last = asyncio.run(stop_under_load(Load(url, samples, connections), server))
        code = server.wait(300)
        print(f"SIGTERM   exit code {code}, outcomes: {dict(last)}")
        good = good and code == 0 and set(last) <= {"200", "429", "not accepted"}
    figures = {"direct": speed, "server": rate, "failures": load.failures, "exit_code": code}
    return figures | load.percentiles(), good


def main() -> int:
    """Measure, print, and check the conditions."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="runs/demo/model")
    parser.add_argument("--data", type=Path, help="Samples to ask for; by default made ones.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--requests", type=int, default=10_000, help="For the memory; 0 leaves that out.")
    settings = parser.parse_args()
    samples = draw(settings.data, 512)
    _, good = measure(settings.model, samples, settings.seconds, settings.connections, settings.requests)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
