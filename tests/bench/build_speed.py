"""Rows a second of a whole data build, audit and files included, with one process and with more.

    JUDGE_DATA_DIR=DIR python -m tests.bench.build_speed tests/bench/quality.yaml --workers 1 2

Each build runs in processes of its own. Printed are rows, seconds on the clock and of CPU (all processes
together), rows a second of each, the peak memory of the largest process, and whether all files are the same,
byte for byte. ``--before FOLDER`` measures another checkout first, such as a worktree of an older commit; it
is asked for no number of processes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Run(NamedTuple):
    """One build: what it cost, and its files."""

    name: str
    rows: int
    wall: float
    cpu: float
    peak: float
    files: dict[str, bytes]


def build(name: str, checkout: Path, recipe: Path, out: Path, *options: str) -> Run:
    """Build a recipe by the code of a checkout, into a folder ``data`` in ``out``."""
    command = [
        sys.executable,
        "-m",
        "judge",
        "data",
        "build",
        str(recipe.resolve()),
        "--out",
        "data",
        *options,
    ]
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    process = subprocess.Popen(command, cwd=out, env=environment, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{name}: the build failed; {' '.join(command)}")
    wall = time.perf_counter() - start
    rows = json.loads((out / "data/manifest.json").read_text())["samples"]
    files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    # What a process waited for is counted with it: CPU of its workers, and the largest of them.
    return Run(name, rows, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, files)


def main() -> None:
    """Build by each number of processes, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--before", type=Path, help="another checkout, measured first")
    args = parser.parse_args()
    plans: list[tuple[str, Path, tuple[str, ...]]] = []
    if args.before:
        plans.append(("before", args.before, ()))
    plans += [(f"{count} processes", ROOT, ("--workers", str(count))) for count in args.workers]
    runs: list[Run] = []
    print("| build | rows | s | s of CPU | rows/s | rows/s of CPU | MiB | files |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for name, checkout, options in plans:
        with tempfile.TemporaryDirectory() as folder:
            run = build(name, checkout, args.recipe, Path(folder), *options)
        runs.append(run)
        odd = [file for file, text in run.files.items() if runs[0].files.get(file) != text]
        same = "differ: " + ", ".join(odd) if odd else "the same" if len(runs) > 1 else ""
        print(
            f"| {run.name} | {run.rows:,} | {run.wall:.1f} | {run.cpu:.1f} | {run.rows / run.wall:.0f} "
            f"| {run.rows / run.cpu:.0f} | {run.peak:.0f} | {same} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
