"""Kills runs of the chat client against a failing server at random moments, and restarts them.

    python -m benchmarks.fault_drill --seeds 20

For each seed, one run is undisturbed; another one, against a second server with the same faults, is killed
with SIGKILL a few times before it may finish, and each restart has another concurrency. The two outputs must
be identical, no call whose answer was stored at a kill may reach the server after it, and no kill may lose
more answers than there were calls in flight.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from judge.files import write_jsonl
from judge.remote import CallCache, ChatClient, ChatRequest, EndpointConfig, Prices
from judge.remote.cache import call_key
from tests import fault_server

ROOT = Path(__file__).resolve().parents[1]
NAME, MODEL, CALLS = "teacher", "m", 120
CONCURRENCY = (2, 6, 16)
FAULTS = {
    "429": 0.08, "503": 0.04, "500": 0.04, "drop": 0.06, "timeout": 0.01, "refusal": 0.03, "filtered": 0.02,
    "empty": 0.02, "truncated": 0.03, "invalid": 0.03, "schema": 0.03,
}  # fmt: skip
STUBBORN = {"refusal": 0.03, "truncated": 0.02, "schema": 0.02}
SCHEMA = {
    "type": "object",
    "properties": {"推理过程": {"type": "string"}, "判断": {"enum": ["通过", "失败"]}},
    "required": ["推理过程", "判断"],
    "additionalProperties": False,
}


def make_requests() -> list[ChatRequest]:
    """Calls, every tenth of them twice."""
    texts = [f"第 {call - call % 10 // 9} 题" for call in range(CALLS)]
    return [ChatRequest([{"role": "user", "content": text}], schema=SCHEMA, seed=1) for text in texts]


def run(base_url: str, folder: Path, concurrency: int) -> None:
    """One run in a process that can be killed; writes all replies at the end."""
    config = EndpointConfig(
        base_url=base_url, model=MODEL, concurrency=concurrency, timeout=2.0, backoff=0.02,
        prices=Prices(prompt=2.5, completion=10),
    )  # fmt: skip
    with CallCache(folder / "calls.sqlite") as cache:
        replies = ChatClient(config, name=NAME, cache=cache).run(make_requests())
        rows = ({"parsed": r.parsed, "problem": r.problem, "text": r.text, "cost": r.cost} for r in replies)
        write_jsonl(folder / "replies.jsonl", rows)


@dataclass(frozen=True, slots=True)
class Drill:
    """The result of one seed.

    ``same``: outputs are identical; ``lost``: most answers lost by one kill; ``repeated``: stored calls that
    were made again; ``problems``: replies without an answer; ``outcomes``: those of the killed run.
    """

    same: bool
    kills: int
    lost: int
    repeated: int
    problems: int
    outcomes: Counter[str]


def drill(seed: int, folder: Path, kills: int = 4) -> Drill:
    """An undisturbed run and one that is killed ``kills`` times, against servers with the same faults."""
    rng = random.Random(seed)
    settings = {"seed": seed, "faults": FAULTS, "stubborn": STUBBORN, "latency": 0.01, "hold": 4}
    outputs = []
    for name in ("undisturbed", "killed"):
        (folder / name).mkdir(parents=True)
        with fault_server.FaultServer(folder / name / "server.jsonl", **settings) as server:
            if name == "killed":
                found = _kill(server, folder / name, rng, kills)
            _start(server, folder / name, rng).communicate()
            outputs.append((folder / name / "replies.jsonl").read_bytes())
            requests = server.requests()
    stored_at, lost = found
    last = {row["key"]: row["time"] for row in sorted(requests, key=lambda row: row["time"])}
    return Drill(
        same=outputs[0] == outputs[1],
        kills=len(lost),
        lost=max(lost),
        repeated=sum(last[key] > moment for key, moment in stored_at.items()),
        problems=sum(json.loads(line)["problem"] is not None for line in outputs[0].splitlines()),
        outcomes=Counter(row["outcome"] for row in requests),
    )


def _start(server: fault_server.FaultServer, folder: Path, rng: random.Random) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.fault_drill", "--run", server.base_url, str(folder)]
    return subprocess.Popen([*command, "--concurrency", str(rng.choice(CONCURRENCY))], cwd=ROOT)


def _kill(
    server: fault_server.FaultServer, folder: Path, rng: random.Random, kills: int
) -> tuple[dict[str, float], list[int]]:
    """Kill runs after random numbers of requests.

    Returns, for each call, the time of the first kill at which its answer was stored, and for each kill the
    number of answered calls that were not stored.
    """
    bodies = [request.body(MODEL) for request in make_requests()]
    stored_at: dict[str, float] = {}
    lost = []
    for _ in range(kills):
        before = len(server.requests())
        process = _start(server, folder, rng)
        until = before + rng.randint(1, CALLS // kills)
        while len(server.requests()) < until and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        time.sleep(0.1)  # requests in flight still arrive; nobody receives their answers
        moment, rows = time.time(), server.requests()
        with CallCache(folder / "calls.sqlite") as cache:
            for body in bodies:
                call = cache.last(call_key(NAME, body))
                if call is not None and call.problem is None:
                    stored_at.setdefault(fault_server.call_key(body), moment)
        answered = {row["key"] for row in rows[before:] if row["outcome"] == "answered"}
        lost.append(len(answered - stored_at.keys()))
    return stored_at, lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--run", nargs=2, metavar=("BASE_URL", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--concurrency", type=int, default=16, help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.run:
        run(settings.run[0], Path(settings.run[1]), settings.concurrency)
        return 0
    good, most = True, max(CONCURRENCY)
    for seed in range(settings.seeds):
        with tempfile.TemporaryDirectory() as folder:
            found = drill(seed, Path(folder))
        print(seed, found)
        good &= found.same and not found.repeated and found.lost <= most
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
