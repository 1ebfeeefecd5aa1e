"""Memory and time of a build by the number of its rows: reading, leak gate, splits, rows, writing.

    python tests/bench/scale.py --rows 250000 500000 1000000

Each size is a build of its own, in a process of its own, from a file of synthetic labelled samples (four
about each document) against a synthetic benchmark that shares one document in a thousand. Prints a Markdown
table: seconds, microseconds a row, peak memory.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = [
    f"{a}{b}{c}"
    for a in "bdfgklmnprst"
    for b in ("a", "e", "i", "o", "u", "au")
    for c in ("l", "n", "r", "s", "nd")
]
LEAKED = 1000
"""One document in so many is also in the benchmark."""


def document(number: int) -> str:
    """The document of a number: sixty random words, always the same."""
    rng = random.Random(number)
    return " ".join(rng.choice(WORDS) for _ in range(60)) + "."


def write_inputs(folder: Path, rows: int) -> None:
    """Samples, and a benchmark in HaluBench's form."""
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(rows):
            about = number // 4
            row = {
                "id": f"row-{number}",
                "group": f"document-{about}",
                "document": document(about),
                "question": f"What does sentence {number % 4} say of {random.Random(number).choice(WORDS)}?",
                "answer": f"It says {random.Random(-number).choice(WORDS)} {number}.",
                "label": "FAIL" if number % 2 else "PASS",
            }
            stream.write(json.dumps(row) + "\n")
    benchmark = folder / "benchmarks" / "halubench"
    benchmark.mkdir(parents=True)
    with (benchmark / "halubench.csv").open("w", encoding="utf-8") as stream:
        stream.write("id,passage,question,answer,label,source_ds\n")
        for about in range(0, max(rows // 4, LEAKED), LEAKED):
            stream.write(f"{about},{document(about)},Who knows?,Nobody does.,PASS,made\n")


def build_once(folder: Path) -> None:
    """Build in this process; prints seconds and peak memory as JSON."""
    import resource
    import time

    from data_pipeline.build import build
    from data_pipeline.config import DataConfig

    config = {
        "output": str(folder / "data"),
        "sources": [{"kind": "file", "path": str(folder / "samples.jsonl")}],
        "perturb": False,
        "audit": "warn",  # the last digit of an answer is the label
        "leaks": {"data_dir": str(folder / "benchmarks")},
        "modes": {"verdict": 1.0, "reason": 0.1},
        "preferences": {"pairs": 1000},
    }
    start = time.perf_counter()
    manifest = build(DataConfig.model_validate(config))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {
        "seconds": time.perf_counter() - start,
        "peak": peak,
        "kept": manifest["samples"],
        "leaked": manifest["leaks"]["dropped"],
    }
    print(json.dumps(result))


def main() -> None:
    """Run every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        build_once(arguments.one)
        return
    print("| rows | kept | leaked | seconds | µs a row | peak memory, MiB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(Path(folder), rows)
            command = [sys.executable, __file__, "--one", folder]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        result = json.loads(output.splitlines()[-1])
        print(
            f"| {rows:,} | {result['kept']:,} | {result['leaked']:,} | {result['seconds']:.0f} "
            f"| {1e6 * result['seconds'] / rows:.0f} | {result['peak']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
