"""Kills evaluations at random moments: the report must equal that of an undisturbed run.

    python -m benchmarks.eval_drill --kills 20

A tiny random model judges samples by one label word, with reasoning, sampled twice, and by agreement with
answers of its own; recorded verdicts are replayed, too. Each way of judging runs once undisturbed, and once
with repeated kills by SIGKILL, resumed each time by the same command. A kill comes within a tenth of a second
after a random number of further bytes was written. Conditions for each way:

- ``verdicts.jsonl`` is identical, byte for byte;
- ``report.json`` is identical except for times, the command and the number of resumed verdicts.

Exit code 1 if any condition fails.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.files import write_jsonl
from tests.conftest import tiny_model, tiny_tokenizer

ROOT = Path(__file__).resolve().parents[1]
WAYS: dict[str, tuple[int, tuple[str, ...]]] = {
    "verdict": (1200, ("--model", "model", "--set", "batch_tokens=512")),
    "reason": (600, ("--model", "model", "--mode", "reason", "--set", "max_new_tokens=8")),
    "sampled": (
        300,
        (
            "--model", "model", "--mode", "reason", "--set", "max_new_tokens=8", "--runs", "2",
            "--temperature", "0.8",
        ),
    ),
    "selfcheck": (96, ("--model", "selfcheck:model")),
    "replay": (2000, ("--model", "replay:recorded.jsonl")),
}  # fmt: skip
"""Number of samples, and how they are judged."""
UNLIKE = ("wall_seconds", "samples_per_second", "command", "date")


@dataclass(frozen=True)
class Outcome:
    """The result of one way of judging; ``kills`` has the number of verdicts written at each kill."""

    way: str
    kills: list[int]
    verdicts: int
    problems: list[str]

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.way}: killed {len(self.kills)} times, after {self.kills} of {self.verdicts} verdicts: "
            f"{'; '.join(self.problems) or 'identical'}"
        )


def drill(way: str, folder: Path, kills: int, seed: int = 0, samples: int | None = None) -> Outcome:
    """Run one way of judging in an empty folder, with at most ``kills`` kills."""
    prepare(folder, samples or WAYS[way][0])
    draw = random.Random(f"drill:{way}:{seed}")
    evaluate_in(folder, way, "alone")
    whole = (folder / "alone" / "verdicts.jsonl").stat().st_size
    killed: list[int] = []
    written = folder / "killed" / "verdicts.jsonl"
    while len(killed) < kills:
        done = written.stat().st_size if written.exists() else 0
        # At most halfway into the rest, so that something is left for the next kill.
        moment = done + int(draw.uniform(0, 0.5) * (whole - done)), draw.uniform(0, 0.1)
        if evaluate_in(folder, way, "killed", moment):
            break
        killed.append(written.read_bytes().count(b"\n") if written.exists() else 0)
    else:
        evaluate_in(folder, way, "killed")
    problems = []
    if figures(folder / "alone") != figures(folder / "killed"):
        problems.append("report.json differs")
    one, two = ((folder / name / "verdicts.jsonl").read_bytes() for name in ("alone", "killed"))
    if one != two:
        problems.append("verdicts.jsonl differs")
    return Outcome(way, killed, two.count(b"\n"), problems)


def prepare(folder: Path, samples: int) -> None:
    """A tiny model, labelled samples, and recorded verdicts on them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_tokenizer("chatml")
    tiny_model(tokenizer).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    rows = [
        {
            "id": f"tower-{number}-{label}",
            "document": f"Tower {number} is {20 + number} m high and has a red door. " * (1 + number % 3),
            "question": "How high is the tower?",
            "answer": f"It is {20 + number + (label == 'FAIL')} m high. Its door is red.",
            "label": label,
            "group": f"tower-{number}",
        }
        for number in range(samples // 2)
        for label in ("PASS", "FAIL")
    ]
    write_jsonl(folder / "samples.jsonl", rows)
    recorded = [{"id": row["id"], "label": "FAIL", "p_fail": place % 7 / 7} for place, row in enumerate(rows)]
    write_jsonl(folder / "recorded.jsonl", recorded)


def evaluate_in(folder: Path, way: str, out: str, moment: tuple[int, float] | None = None) -> bool:
    """Evaluate; with ``moment`` (bytes, seconds), kill the process so long after its verdicts have that size.

    Returns:
        Whether it finished.
    """
    command = [
        sys.executable, "-m", "judge", "eval", "--samples", "samples.jsonl", "--out", out, *WAYS[way][1],
        "--set", "bootstrap=50",
    ]  # fmt: skip
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    written = folder / out / "verdicts.jsonl"
    with (folder / "output.txt").open("a") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        if moment is None:
            process.wait()
        else:
            size, delay = moment
            while process.poll() is None and not (written.exists() and written.stat().st_size >= size):
                time.sleep(0.0005)
            process.wait(delay)
    except subprocess.TimeoutExpired:
        return False
    finally:
        process.kill()
        process.wait()
    if process.returncode != 0:
        raise RuntimeError(f"judge eval failed: {(folder / 'output.txt').read_text()[-2000:]}")
    return True


def figures(out: Path) -> list[dict[str, Any]]:
    """The reports of a result without the values that differ from run to run."""
    reports: list[dict[str, Any]] = json.loads((out / "report.json").read_text())["reports"]
    for report in reports:
        del report["counts"]["resumed"]
        for name in UNLIKE:
            del report[name]
    return reports


def main() -> int:
    """Run the drill."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20, help="the least over all ways")
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    found: list[Outcome] = []
    seed = settings.seed
    while sum(len(outcome.kills) for outcome in found) < settings.kills:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                found.append(drill(way, Path(folder), kills=4, seed=seed))
            print(found[-1].line(), flush=True)
        seed += 1
    failed = sum(bool(outcome.problems) for outcome in found)
    print(
        f"{sum(len(outcome.kills) for outcome in found)} kills, {failed} of {len(found)} runs with problems"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
