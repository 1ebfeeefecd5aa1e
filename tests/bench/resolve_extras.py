"""Which extras of this project pip can install together; resolves only, and installs nothing.

    python tests/bench/resolve_extras.py                    # all together; each pair if that fails
    python tests/bench/resolve_extras.py --pairs            # each pair, one after the other (some 40 of them)
    python tests/bench/resolve_extras.py --only serve,vllm  # these together

Versions that suit all extras suit every pair of them, so one resolution shows it for all. Prints a Markdown
table: what was asked for, whether it resolves, and the versions chosen of what extras disagree about, or
pip's reason. DeepEval is no extra: its click before 8.4 excludes every Hub client that transformers takes
(docs/adapters.md).
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOLD = ("torch", "transformers", "fastapi", "click", "vllm", "trl")
"""Packages whose chosen versions the table names."""


def extras() -> list[str]:
    """The extras for users; ``dev`` is for the project's own environment, which has complete pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name != "dev"]


def resolve(names: tuple[str, ...], folder: Path, seconds: float) -> tuple[bool, str]:
    """Whether pip finds versions for these extras together; with the versions, or its reason."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--report", str(report), f"{ROOT}[{','.join(names)}]"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return False, f"no answer in {seconds:.0f} s"
    if run.returncode:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        told = [line for line in lines if "depends on" in line or "conflict" in line] or lines[-1:]
        return False, "; ".join(told[:6])
    found = {
        entry["metadata"]["name"].lower(): entry["metadata"]["version"]
        for entry in json.loads(report.read_text())["install"]
    }
    return True, ", ".join(f"{name} {found[name]}" for name in TOLD if name in found)


def main() -> None:
    """Resolve and print the table; exit code 1 if anything does not resolve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--only", help="these extras, with commas between them")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds for one resolution")
    arguments = parser.parse_args()
    names = extras()
    wanted: list[tuple[str, ...]] = list(itertools.combinations(names, 2))
    if not arguments.pairs:
        together = tuple(arguments.only.split(",")) if arguments.only else tuple(names)
        wanted = [together] if arguments.only else [together, *wanted]
    failed = False
    print("| extras | resolve | seconds | versions, or why not |")
    print("| --- | --- | ---: | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for pair in wanted:
            begin = time.monotonic()
            works, told = resolve(pair, Path(folder), arguments.timeout)
            seconds = time.monotonic() - begin
            print(f"| {', '.join(pair)} | {'yes' if works else 'NO'} | {seconds:.0f} | {told} |", flush=True)
            if works and pair == tuple(names):
                return
            failed |= not works and len(pair) == 2
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
