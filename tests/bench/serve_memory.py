"""Memory of ``judge serve`` over one request of a million characters, for a model with a context of 131,072.

    python -m tests.bench.serve_memory [--unbounded]

Makes a random model of two layers, serves it, and reads the server's peak before and after the request: as it
is served by default, and with ``--unbounded`` also with all of its context. Prints a Markdown table.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONTEXT = 131_072
CHARACTERS = 1_000_000
SENTENCE = "The bridge was built in 1907 of stone, and it is 120 metres long. "


def make_model(folder: Path) -> None:
    """A model that is small, but for its context."""
    from tests.conftest import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer("chatml")
    model = tiny_model(tokenizer)
    model.config.max_position_embeddings = CONTEXT
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def peak(process: int) -> int:
    """The most memory that a process had, in bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def measure(folder: Path, options: list[str]) -> str:
    """Serve, ask once, stop; a line of the table."""
    import httpx2

    code = "from judge.cli.serve import app; app()"
    command = [sys.executable, "-c", code, "--model", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as server:
        assert server.stdout
        url = server.stdout.readline().split()[-1]
        short = {"document": SENTENCE, "question": "When?", "answer": "In 1907."}
        httpx2.post(f"{url}/v1/judge", json={"samples": [short]}, timeout=600).raise_for_status()
        before = peak(server.pid)
        text = (SENTENCE * (CHARACTERS // len(SENTENCE)))[: CHARACTERS - 100]
        start = time.perf_counter()
        answer = httpx2.post(f"{url}/v1/judge", json={"samples": [{**short, "document": text}]}, timeout=3600)
        seconds = time.perf_counter() - start
        after = peak(server.pid)
        server.send_signal(signal.SIGTERM)
    told = answer.json()
    verdict = told["verdicts"][0] if answer.status_code == 200 else None
    tokens = verdict["usage"]["prompt_tokens"] if verdict else "-"
    return (
        f"| {' '.join(options) or 'default'} | {answer.status_code} | {tokens} | {seconds:.0f} "
        f"| {before / 2**20:.0f} | {after / 2**20:.0f} |"
    )


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--unbounded", action="store_true")
    parsed = parser.parse_args()
    print("| options | status | prompt tokens | seconds | peak before, MiB | after, MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "model"
        make_model(folder)
        print(measure(folder, []), flush=True)
        if parsed.unbounded:
            print(measure(folder, ["--max-length", str(CONTEXT)]), flush=True)


if __name__ == "__main__":
    main()
