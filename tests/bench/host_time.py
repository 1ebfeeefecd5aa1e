"""Milliseconds of the host for each verdict: rendering, tokenizing, fitting and trees, without the model.

    python -m tests.bench.host_time MODEL --data-dir DIR [--rows 100] [--max-length 1000] [--before CHECKOUT]
    python -m tests.bench.host_time MODEL --data-dir DIR --device-ms 2

Judges RAGTruth's test rows with a forward pass that computes nothing, so what is left is what keeps a device
waiting. With ``--max-length`` long documents are shortened. Each side is a process of its own; ``--before``
is a checkout of an earlier state, and the probabilities' places (tokens and rows that would be read) must be
the same there. Times are of the processor, the best of three rounds.

With ``--device-ms`` a forward pass takes so many milliseconds a verdict and nothing of the host, as on a GPU:
chunks of 32 samples one after the other, against a stream of them, whose prompts are made ahead. Times are of
the clock then, on a device that is only slept for.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

PROBE = """
import hashlib, json, sys, time
from pathlib import Path
from eval.benchmarks import get_benchmark
from eval.sampling import take
from judge.load import load_judge
model, data, rows, length = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) or None
samples = take(get_benchmark("ragtruth").load(data), rows, 0)
judge = load_judge(model, max_length=length, precision="bfloat16")
seen = hashlib.sha256()
def read(trees, steps):
    for tree in trees:
        seen.update(repr((tree.ids, tree.nodes, tree.ends)).encode() if first else b"")
    return [-1.0] * len(steps)
judge.backend._read = read
first, best = True, float("inf")
tokens = cut = 0
for _ in range(3):
    judge.backend.renderer = type(judge.backend.renderer)(judge.backend.loaded.tokenizer)  # nothing is kept
    start = time.process_time()
    verdicts = judge.check(samples)
    if not first:
        best = min(best, time.process_time() - start)
    first = False
    tokens = sum(verdict.usage.prompt_tokens for verdict in verdicts)
    cut = sum(verdict.cut_chars > 0 for verdict in verdicts)
print(json.dumps({"ms": 1000 * best / len(samples), "tokens": tokens / len(samples), "cut": cut,
                  "places": seen.hexdigest()[:12]}))
"""

AHEAD = """
import json, sys, time
from pathlib import Path
import judge.judge
from eval.benchmarks import get_benchmark
from eval.sampling import take
from judge.checker import in_chunks
from judge.load import load_judge
model, data, rows, milliseconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
judge.judge.CHUNK = {"verdict": 32, "reason": 32}
samples = take(get_benchmark("ragtruth").load(data), rows, 0)
asked = load_judge(model, precision="bfloat16")
def read(trees, steps):
    time.sleep(sum(len(tree.ends) for tree in trees) * milliseconds / 1000)
    return [-1.0] * len(steps)
asked.backend._read = read
best = {"series": float("inf"), "ahead": float("inf")}
for number in range(3):
    for side in best:
        asked.backend.renderer = type(asked.backend.renderer)(asked.backend.loaded.tokenizer)
        parts = list(in_chunks(samples, 32)) if side == "series" else [samples]
        start = time.perf_counter()
        verdicts = [asked.check(part) for part in parts]
        best[side] = min(best[side], time.perf_counter() - start)
print(json.dumps({side: 1000 * seconds / len(samples) for side, seconds in best.items()}))
"""


def measure(checkout: Path, *arguments: str, probe: str = PROBE) -> dict[str, float]:
    """What a probe prints with the packages of a checkout."""
    found = subprocess.run(
        [sys.executable, "-c", probe, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "TOKENIZERS_PARALLELISM": "false"},
    )
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Print a line for each side and setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--max-length", type=int, nargs="*", default=[0], help="0 is the model's own")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--device-ms", type=float, help="of a verdict, on a device that is slept for")
    options = parser.parse_args()
    here = Path(__file__).resolve().parents[2]
    if options.device_ms is not None:
        arguments = (options.model, options.data_dir, str(options.rows), str(options.device_ms))
        found = measure(here, *arguments, probe=AHEAD)
        print(f"{options.rows} samples, device {options.device_ms:g} ms a verdict: ", end="")
        print(f"{found['ahead']:.2f} ms in a stream, {found['series']:.2f} chunk by chunk, ", end="")
        print(f"ratio {found['series'] / found['ahead']:.2f}")
        return
    print("| context | tokens a verdict | shortened | host, ms a verdict | before | ratio |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for length in options.max_length:
        arguments = (options.model, options.data_dir, str(options.rows), str(length))
        after = measure(here, *arguments)
        before = measure(options.before.resolve(), *arguments) if options.before else after
        if before["places"] != after["places"]:
            print(f"warning: at {length} the two sides would read other tokens", file=sys.stderr)
        print(
            f"| {length or 'own'} | {after['tokens']:.0f} | {after['cut']} | {after['ms']:.2f} | "
            f"{before['ms']:.2f} | {before['ms'] / after['ms']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
