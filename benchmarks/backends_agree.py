"""Checks that transformers, vLLM in process and vLLM's server give the same verdicts on the same samples.

    .venv-vllm/bin/python -m benchmarks.backends_agree runs/demo/model runs/demo/sft \\
        --samples runs/demo/data/samples.jsonl

Each model, full weights or a LoRA adapter, judges the samples with ``judge batch`` on each engine, in
float32. All labels must be those of transformers, and ``p_fail`` may differ by at most 0.02. Wall times
include starting Python and loading the model, except for the server, which is already running.

Exit code 1 if an engine differs by more.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from eval.sampling import take
from judge.files import read_jsonl, write_jsonl
from judge.models.base import find_model
from judge.samples import read_samples

LIMIT = 0.02
START = 600.0
"""Seconds that the server may take to start."""
ENGINES = ("transformers", "vllm", "server")


@contextmanager
def server(model: str, folder: Path) -> Iterator[str]:
    """Run vLLM's server with one model, called ``judge``; yields its base URL. Its output goes to a log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base, adapter = find_model(model)
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", base]
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--enforce-eager"]
    if adapter is None:
        command += ["--served-model-name", "judge"]
    else:
        rank = json.loads((Path(adapter) / "adapter_config.json").read_text())["r"]
        command += ["--served-model-name", "base", "--enable-lora", "--max-lora-rank", str(max(rank, 8))]
        command += ["--lora-modules", f"judge={Path(adapter).resolve()}"]
    settings = {"VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **settings})
        try:
            wait(process, f"http://127.0.0.1:{port}/health", log.name)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()


def wait(process: subprocess.Popen[bytes], url: str, log: str) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + START
    while process.poll() is None and time.monotonic() < end:
        try:
            with urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(1)
    raise SystemExit(f"the server did not start:\n{Path(log).read_text()[-2000:]}")


def judge(samples: Path, out: Path, model: str, *options: str) -> tuple[list[dict[str, Any]], float]:
    """The verdicts of ``judge batch``, and its wall time in seconds."""
    command = [sys.executable, "-m", "judge", "batch", str(samples), "-o", str(out), "--model", model]
    start = time.perf_counter()
    subprocess.run([*command, *options], check=True)
    return [row for _, row in read_jsonl(out)], time.perf_counter() - start


def run(engine: str, model: str, samples: Path, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """All verdicts of one engine."""
    out = folder / f"{engine}.jsonl"
    if engine != "server":
        quick = ["--set", "vllm.enforce_eager=true"] if engine == "vllm" else []  # as the server
        return judge(samples, out, model, "--backend", engine, "--set", "precision=float32", *quick)
    with server(model, folder) as url:
        return judge(samples, out, "judge", "--backend", "openai", "--base-url", url)


def agreement(rows: list[dict[str, Any]], reference: list[dict[str, Any]]) -> tuple[int, float]:
    """The number of labels that agree with the reference, and the largest difference in ``p_fail``."""
    pairs = list(zip(rows, reference, strict=True))
    same = sum(row["label"] is not None and row["label"] == other["label"] for row, other in pairs)
    scores = [(row["p_fail"], other["p_fail"]) for row, other in pairs]
    return same, max(1.0 if None in both else abs(both[0] - both[1]) for both in scores)


def main() -> None:
    """Run every engine on every model and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", help="folders of full weights or adapters")
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    chosen = take(list(read_samples(settings.samples)), settings.limit, settings.seed)
    failed = False
    for model in settings.models:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_jsonl(folder / "samples.jsonl", map(asdict, chosen))
            reference: list[dict[str, Any]] = []
            for engine in ENGINES:
                rows, seconds = run(engine, model, folder / "samples.jsonl", folder)
                reference = reference or rows
                same, apart = agreement(rows, reference)
                failed |= same < len(rows) or apart > LIMIT
                print(
                    f"{model} on {engine}: {same} of {len(rows)} labels are the same, "
                    f"p_fail differs by at most {apart:.5f}; {seconds:.1f} s",
                    flush=True,
                )
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
