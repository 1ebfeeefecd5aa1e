"""Seconds from ``judge check`` to the verdict, in a new process, and where they go.

    python -m tests.bench.cold_check                                  # the reference judge
    python -m tests.bench.cold_check --model runs/demo/model          # a language model
    python -m tests.bench.cold_check --model MODEL --before CHECKOUT  # beside the code of another checkout

The command as a user calls it, several times, the two sides in turns; and once more with a clock around its
imports, the loading and the verdict. ``CPU`` is what the process took of the processor, which other work on
the machine changes little. The first run may also wait for the disk. Exit code 1 where the median of the
seconds on the clock is over the limit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 3.0
CLOCK = """
import builtins, importlib, json, sys, time
from contextlib import contextmanager

LIBRARIES = {"torch": "PyTorch", "transformers": "transformers", "onnxruntime": "ONNX Runtime"}
spent, within = {}, ["Python and the command"]
last = 0.0  # processor time from the start of the process on

def lap():
    global last
    now = time.process_time()
    spent[within[-1]] = spent.get(within[-1], 0.0) + now - last
    last = now

@contextmanager
def part(name):
    lap()
    within.append(name)
    try:
        yield
    finally:
        lap()
        within.pop()

def watched(imports, root_of):
    def run(*args, **more):
        library = LIBRARIES.get(root_of(*args, **more))
        if library is None or within[-1].startswith("import"):
            return imports(*args, **more)
        with part(f"import of {library}"):
            return imports(*args, **more)
    return run

def root_of(name, *rest, **more):
    package = more.get("package") or (rest[0] if rest and isinstance(rest[0], str) else "")
    return (package if name.startswith(".") else name).partition(".")[0]

builtins.__import__ = watched(builtins.__import__, root_of)
importlib.import_module = watched(importlib.import_module, root_of)

import judge.load
load = judge.load.load_judge

def load_judge(*args, **more):
    with part("loading, but for imports"):
        found = load(*args, **more)
    check = type(found).iter_check
    def iter_check(self, samples):
        with part("the verdict"):
            return iter(list(check(self, samples)))
    type(found).iter_check = iter_check
    return found

judge.load.load_judge = load_judge
from judge.cli.main import main
try:
    main(sys.argv[1:])
finally:
    lap()
    print(json.dumps(spent))
"""
DOCUMENT = "The tower was built in 1889 and is 330 m high. It stands by the river. " * 5


class Run(NamedTuple):
    """A process: its seconds on the clock and of the processor, and what it wrote."""

    wall: float
    cpu: float
    output: str


def run(checkout: Path, *arguments: str) -> Run:
    """Run Python with the code of a checkout."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], cwd=checkout, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"judge check failed in {checkout}")
    return Run(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, output)


def main() -> None:
    """Time the command and its parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="reference")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout, measured beside this one")
    settings = parser.parse_args()
    sides = {"before": settings.before.resolve()} if settings.before else {}
    sides["now"] = ROOT
    model = str(Path(settings.model).resolve()) if Path(settings.model).is_dir() else settings.model
    runs: dict[str, list[Run]] = {side: [] for side in sides}
    parts: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "document.txt"
        document.write_text(DOCUMENT)
        command = ["check", "--model", model, "--document", f"@{document}"]
        command += ["--question", "How high is the tower?", "--answer", "It is 30 m high."]
        for _ in range(settings.runs):
            for side, checkout in sides.items():
                runs[side].append(run(checkout, "-m", "judge", *command))
        for side, checkout in sides.items():
            parts[side] = json.loads(run(checkout, "-c", CLOCK, *command).output.splitlines()[-1])
    print(f"| s of CPU | {' | '.join(sides)} |")
    print(f"| --- |{' ---: |' * len(sides)}")
    for name in dict.fromkeys(name for found in parts.values() for name in found):
        print(f"| {name} | {' | '.join(f'{found.get(name, 0.0):.2f}' for found in parts.values())} |")
    for name, figures in (
        (
            "the whole command, median",
            [statistics.median(one.cpu for one in found) for found in runs.values()],
        ),
        ("the whole command, least", [min(one.cpu for one in found) for found in runs.values()]),
        ("on the clock, least", [min(one.wall for one in found) for found in runs.values()]),
    ):
        print(f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    verdicts = {side: {one.output for one in found} for side, found in runs.items()}
    print("; ".join(f"{side}: {' / '.join(sorted(found)).strip()}" for side, found in verdicts.items()))
    raise SystemExit(int(statistics.median(one.wall for one in runs["now"]) > LIMIT))


if __name__ == "__main__":
    main()
