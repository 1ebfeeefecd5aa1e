"""Seconds from ``judge check`` to the verdict, in a new process, and where they go.

    python -m tests.bench.cold_check                             # the reference judge
    python -m tests.bench.cold_check --model runs/demo/model

The command as a user calls it, several times, and the same work in parts: imports of this project and of
PyTorch, loading (for a language model with the import of transformers), the verdict. The first run may also
wait for the disk. Exit code 1 where the median is over the limit.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 3.0
PARTS = """
import json, sys, time
marks, start = {}, time.perf_counter()
def mark(name):
    global start
    now = time.perf_counter()
    marks[name], start = now - start, now
import judge.cli.check
from judge import Sample, load_judge
mark("import of the command")
import torch
mark("import of PyTorch")
judge = load_judge(sys.argv[1])
mark("loading the model")
judge.check([Sample("1", sys.argv[2], "It is 30 m high.", "How high is the tower?")])
mark("the verdict")
print(json.dumps(marks))
"""
DOCUMENT = "The tower was built in 1889 and is 330 m high. It stands by the river. " * 5


def main() -> None:
    """Time the command and its parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="reference")
    parser.add_argument("--runs", type=int, default=5)
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "document.txt"
        document.write_text(DOCUMENT)
        command = [sys.executable, "-m", "judge", "check", "--model", settings.model]
        command += ["--document", str(document), "--question", "How high is the tower?"]
        command += ["--answer", "It is 30 m high."]
        seconds = []
        for _ in range(settings.runs):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
    print(f"judge check: {', '.join(f'{each:.2f}' for each in seconds)} s")
    parts = subprocess.run(
        [sys.executable, "-c", PARTS, settings.model, DOCUMENT], check=True, stdout=subprocess.PIPE
    )
    for name, took in json.loads(parts.stdout).items():
        print(f"  {name}: {took:.2f} s")
    raise SystemExit(int(statistics.median(seconds) > LIMIT))


if __name__ == "__main__":
    main()
