"""Judging through an endpoint whose replies take unlike times: chunks one after another, and as they come.

    python -m tests.bench.endpoint_chunks [--samples 512] [--mean 0.5] [--concurrency 16]

A server in its own process answers each call after a time of its own (exponential, the same on both sides).
One side asks about the next chunk of samples when all of this one are answered, the other as soon as there is
room on the wire. Prints seconds, and the ideal: the mean time of all replies over the connections.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from judge.backends.base import WORD_TOKENS
from judge.backends.openai import OpenAIBackend
from judge.judge import CHUNK, Judge
from judge.remote import EndpointConfig
from judge.types import Sample
from tests.fault_server import FaultServer


def answer(request: dict[str, Any]) -> str:
    """Of the server: the word that verdict mode wants, or a whole reply."""
    return "PASS" if request["max_tokens"] <= WORD_TOKENS else '{"REASONING": "So.", "SCORE": "PASS"}'


def main() -> None:
    """Judge the samples on both sides and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--samples", type=int, default=512)
    parser.add_argument("--mean", type=float, default=0.5, help="seconds of a reply")
    parser.add_argument("--concurrency", type=int, default=16)
    options = parser.parse_args()
    samples = [Sample(f"{number}", f"It is {number}.", f"{number}") for number in range(options.samples)]
    with (
        tempfile.TemporaryDirectory() as folder,
        FaultServer(
            Path(folder, "log.jsonl"), spread=options.mean, answer=f"{__spec__.name}:answer"
        ) as server,
    ):
        config = EndpointConfig(base_url=server.base_url, model="m", concurrency=options.concurrency)
        print("| mode | chunk | ideal, s | chunk by chunk, s | as they come, s | ratio |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for mode in ("verdict", "reason"):
            seconds, found = [], []
            for closed in (True, False):
                backend = OpenAIBackend(config)
                backend.at_once = 1 if closed else backend.at_once
                start = time.perf_counter()
                found.append(Judge(backend, mode=mode).check(samples))
                seconds.append(time.perf_counter() - start)
            assert found[0] == found[1]
            ideal = options.samples * options.mean / options.concurrency
            print(
                f"| {mode} | {CHUNK[mode]} | {ideal:.1f} | {seconds[0]:.1f} | {seconds[1]:.1f} | "
                f"{seconds[0] / seconds[1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
