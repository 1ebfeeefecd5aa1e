"""Kills builds with two teachers behind a failing server at random moments: nothing is lost or paid twice.

    python -m benchmarks.build_drill --seeds 20

For each seed one build runs undisturbed, on a server without faults; another one, on a server with all
faults, is killed with SIGKILL several times and restarted. In the recipe one teacher perturbs answers, and
both judge, together with the rules. Conditions for every seed:

- all files of the two data sets are identical, byte for byte (except for the server's address in the recipe),
  and there are no other files in the folder;
- an answer that was in the call cache when a build was killed is never requested again. A kill may only lose
  calls in flight, so no more answers than that are sent twice;
- if there is a manifest at a kill, the files are those that it names.

Exit code 1 if any condition fails.
"""

import argparse
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.files import sha256_file, write_jsonl
from tests.fault_server import ROOT, FaultServer, call_key

DOCUMENTS = 40
CONCURRENCY = 8
KILLS = 4
"""Maximum kills per seed: a build may finish before its kill."""
FAULTS = {
    "408": 0.02, "429": 0.06, "500": 0.05, "503": 0.03, "timeout": 0.02, "drop": 0.08, "refusal": 0.05,
    "filtered": 0.02, "empty": 0.03, "truncated": 0.05, "invalid": 0.05, "schema": 0.05,
}  # fmt: skip
STUBBORN = {"refusal": 0.03, "truncated": 0.03, "schema": 0.03}
"""Prompts that never get an answer, on either server."""
RECIPE = """
output: data
sources: [{{kind: file, path: golds.jsonl}}]
teachers:
  - {{name: first, kind: openai, endpoint: {{model: one, {endpoint}}}}}
  - {{name: second, kind: openai, endpoint: {{model: two, {endpoint}}}}}
perturber: first
additions: 0
splits: {{validation: 0.2, test: 0.1}}
modes: {{reason: 1.0}}
reasoning: {{way: ensemble, teachers: [first, rules, second]}}
preferences: {{pairs: 8}}
calls: {{cache: calls.sqlite}}
"""
ENDPOINT = (
    f"base_url: '{{}}', concurrency: {CONCURRENCY}, timeout: 4, retries: 8, backoff: 0.01, "
    "prices: {{prompt: 1, completion: 2}}"
)
_CALL = re.compile(r"\b[0-9a-f]{64}\b")


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The server's reply: a wrong answer or a judgement, with an id of the call in its text."""
    call = call_key(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode())
    schema = request["response_format"]["json_schema"]["schema"]["properties"]
    if "new_answer" in schema:
        text = request["messages"][0]["content"]
        gold = text.rpartition("<answer>\n")[2].partition("\n</answer>")[0]
        return {
            "new_answer": re.sub(r"\d+", lambda number: str(int(number[0]) + 7), gold),
            "change_made": f"The number is another one ({call}).",
        }
    reasoning, score = schema
    return {reasoning: f"It was compared ({call}).", score: schema[score]["enum"][int(call, 16) % 2]}


@dataclass
class Outcome:
    """The result of one seed; ``kills`` has the number of requests received by the server at each kill."""

    seed: int
    kills: list[int] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    samples: int = 0
    pairs: int = 0
    lost: int = 0
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        asked = self.requests.total()
        return (
            f"seed {self.seed:2}: killed {len(self.kills)} times (after {self.kills} requests), "
            f"{asked} requests, {asked - self.requests['answered']} of them without an answer, "
            f"{self.lost} answers lost on the wire, {self.samples} samples, {self.pairs} pairs: "
            f"{'; '.join(self.problems) or 'identical'}"
        )


def drill(seed: int, folder: Path, documents: int = DOCUMENTS, kills: int = KILLS) -> Outcome:
    """Run one seed in an empty folder."""
    rng, outcome = random.Random(f"drill:{seed}"), Outcome(seed)
    alone, disturbed = folder / "alone", folder / "disturbed"
    settings = {
        "answer": "benchmarks.build_drill:answer", "seed": seed, "stubborn": STUBBORN, "latency": 0.01,
    }  # fmt: skip
    with FaultServer(folder / "alone.jsonl", **settings) as server:
        _write_recipe(alone, server.base_url, documents)
        seconds = build_in(alone) or 0.0
        answered = [row["key"] for row in server.requests() if row["outcome"] == "answered"]
        if len(answered) > len(set(answered)):
            outcome.problems.append("a call was answered twice in the build that was left alone")

    kept: list[tuple[int, set[str]]] = []
    with FaultServer(folder / "disturbed.jsonl", faults=FAULTS, hold=6.0, **settings) as server:
        _write_recipe(disturbed, server.base_url, documents)
        for _ in range(kills):
            if build_in(disturbed, kill_after=rng.uniform(0, seconds)) is not None:
                break
            time.sleep(0.1)  # for the server to finish pending requests
            kept.append((len(server.requests()), answers_in(disturbed / "calls.sqlite")))
            outcome.problems += _torn(disturbed / "data")
        else:
            build_in(disturbed)
        log = server.requests()

    outcome.kills = [asked for asked, _ in kept]
    outcome.requests = Counter(row["outcome"] for row in log)
    for asked, answers in kept:
        again = [row for row in log[asked:] if row["outcome"] == "answered" and row["key"] in answers]
        if again:
            outcome.problems.append(f"{len(again)} answers in the cache were asked for again")
    outcome.lost = outcome.requests["answered"] - len(
        {row["key"] for row in log if row["outcome"] == "answered"}
    )
    if outcome.lost > 2 * CONCURRENCY * len(kept):
        outcome.problems.append("more answers came twice than were on the wire")
    outcome.problems += _differences(alone / "data", disturbed / "data")
    manifest = json.loads((disturbed / "data/manifest.json").read_text())
    outcome.samples, outcome.pairs = manifest["samples"], manifest["yield"]["ensemble"]["pairs"]
    return outcome


def answers_in(cache: Path) -> set[str]:
    """The calls whose answers a call cache holds, by the server's ids."""
    if not cache.exists():
        return set()
    base = sqlite3.connect(cache)
    try:
        rows = base.execute("SELECT response FROM calls WHERE problem IS NULL").fetchall()
    except sqlite3.OperationalError:  # killed before the table was made
        rows = []
    finally:
        base.close()
    return {match[0] for (response,) in rows if (match := _CALL.search(response))}


def _write_recipe(folder: Path, base_url: str, documents: int) -> None:
    folder.mkdir(parents=True)
    (folder / "data.yaml").write_text(RECIPE.format(endpoint=ENDPOINT.format(base_url)))
    rows = [
        {
            "id": f"tower-{number}",
            "document": f"Tower {number} stands in the north. It is {high} m high and has a red door.",
            "question": "How high is the tower?",
            "answer": f"The tower is {high} m high.",
        }
        for number, high in enumerate(range(20, 20 + 3 * documents, 3))
    ]
    write_jsonl(folder / "golds.jsonl", rows)


def build_in(folder: Path, kill_after: float | None = None) -> float | None:
    """Build; with ``kill_after``, kill the build that many seconds after it began to work.

    Returns:
        The duration of the work in seconds, or ``None`` if it was killed.
    """
    table = folder / "data/unfinished-build/.golds.sqlite"
    table.unlink(missing_ok=True)
    command = [sys.executable, "-m", "judge", "data", "build", "data.yaml", "--overwrite"]
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with (folder / "output.txt").open("a") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        # Imports take longer than the work, and nothing can be lost there: the work begins with its table.
        while not table.exists() and process.poll() is None:
            time.sleep(0.005)
        began = time.monotonic()
        process.wait(kill_after)
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()
        process.wait()
    if process.returncode != 0:
        raise RuntimeError(f"the build failed: {(folder / 'output.txt').read_text()[-2000:]}")
    return time.monotonic() - began


def _torn(data: Path) -> list[str]:
    """Files that differ from those in the manifest, if there is one."""
    if not (data / "manifest.json").exists():
        return []
    files = json.loads((data / "manifest.json").read_text())["files"]
    return [f"{name} is torn" for name, digest in files.items() if sha256_file(data / name) != digest]


def _differences(one: Path, two: Path) -> list[str]:
    """Files that only one of two folders has, or that differ in more than the server's address."""
    first, second = (
        {
            str(path.relative_to(root)): re.sub(rb"127\.0\.0\.1:\d+", b"", path.read_bytes())
            for path in root.rglob("*")
            if path.is_file()
        }
        for root in (one, two)
    )
    return [f"{name} differs" for name in sorted({*first, *second}) if first.get(name) != second.get(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    settings = parser.parse_args()
    found = []
    for seed in range(settings.first, settings.first + settings.seeds):
        with tempfile.TemporaryDirectory() as folder:
            found.append(drill(seed, Path(folder)))
        print(found[-1].line(), flush=True)
    failed = sum(bool(outcome.problems) for outcome in found)
    requests = sum((outcome.requests for outcome in found), Counter[str]())
    print(
        f"{len(found)} seeds, {failed} with problems: {sum(len(outcome.kills) for outcome in found)} kills, "
        f"{requests.total()} requests, {requests['answered']} answers, "
        f"{sum(outcome.lost for outcome in found)} of them lost on the wire and asked for again"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
