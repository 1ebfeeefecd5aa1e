"""Short and long replies that arrive one by one, on vLLM: each as it comes, against closed batches of 64.

    .venv-vllm/bin/python -m tests.bench.serve_continuous --model MODEL [--requests 96] [--every 8]

Every ``--every``-th request asks for a reply of ``--long`` tokens, the others for ``--short`` ones. They
come ``--rate`` a second and go through the queue of ``judge serve`` to vLLM in this process. Before, an idle
engine took up to 64 of what waited, and answered all of them when the last one was done. Both sides get the
same requests, one after the other, on one engine, and must give the same replies. Seconds are of the clock.
Without ``--model`` a random model of two layers is made.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.backends.base import Decoding
from judge.backends.vllm import VLLMBackend
from judge.checker import Checker
from judge.serving.batching import Batcher
from judge.serving.limits import Limits
from judge.serving.metrics import Metrics
from judge.types import Mode, Sample, Verdict


@dataclass
class Asker(Checker):
    """Gives the engine's reply to a document; the question is the number of its tokens."""

    backend: VLLMBackend
    at_once: int = 1
    mode: Mode = "reason"
    chunk: int = 64
    name: str = "asker"
    calls: list[int] = field(default_factory=list)

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """All replies of a chunk, of both lengths, when all are done."""
        self.calls.append(len(samples))
        replies: dict[str, str] = {}

        def ask(tokens: str) -> None:
            some = [sample for sample in samples if sample.question == tokens]
            talks = [[{"role": "user", "content": sample.document_text}] for sample in some]
            found = self.backend.generate(talks, Decoding(int(tokens)))
            replies.update({sample.id: reply.text for sample, reply in zip(some, found, strict=True)})

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(ask, {sample.question for sample in samples}))
        yield from (Verdict(None, raw=replies[sample.id]) for sample in samples)

    def describe(self) -> dict[str, Any]:
        """The engine."""
        return self.backend.describe()


async def run(asker: Asker, samples: Sequence[Sample], rate: float) -> tuple[list[str], list[float], float]:
    """Replies and seconds of each request, and of all."""
    batcher = Batcher(asker, asker, Limits(), Metrics())
    running = asyncio.create_task(batcher.run())
    start = time.perf_counter()

    async def ask(number: int) -> tuple[str, float]:
        due = start + number / rate
        await asyncio.sleep(due - time.perf_counter())
        [verdict] = await batcher.check([samples[number]])
        return verdict.raw, time.perf_counter() - due

    found = await asyncio.gather(*map(ask, range(len(samples))))
    whole = time.perf_counter() - start
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    return [text for text, _ in found], [seconds for _, seconds in found], whole


def make_model(folder: Path) -> str:
    """A random model of two layers; vLLM has no heads of fewer than 32 dimensions."""
    from transformers import LlamaForCausalLM

    from tests.conftest import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer("chatml")
    config = tiny_model(tokenizer).config
    config.head_dim = 32
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def main() -> None:
    """Run both sides and print a line for each, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--requests", type=int, default=96)
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--short", type=int, default=4)
    parser.add_argument("--long", type=int, default=300)
    parser.add_argument("--rate", type=float, default=20.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        backend = VLLMBackend(options.model or make_model(Path(folder)))
        backend.renderer.stop_ids = list  # type: ignore[method-assign]  # every reply goes to its limit
        samples = [
            Sample(
                f"{n}",
                f"This is document {n}. " * 20,
                "-",
                str(options.short if (n + 1) % options.every else options.long),
            )
            for n in range(options.requests)
        ]
        is_short = [sample.question == str(options.short) for sample in samples]
        medians, replies = [], []
        print("| side | calls | median of short, s | 95 % | median of long, s | all, s |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        list(Asker(backend, 1).iter_check(samples[:8]))  # what is made at the first call
        for side, at_once in (("closed batches of 64", 1), ("as they come", backend.at_once)):
            asker = Asker(backend, at_once)
            texts, seconds, whole = asyncio.run(run(asker, samples, options.rate))
            short = [time for time, is_ in zip(seconds, is_short, strict=True) if is_]
            long = [time for time, is_ in zip(seconds, is_short, strict=True) if not is_]
            medians.append(statistics.median(short))
            replies.append(texts)
            print(
                f"| {side} | {len(asker.calls)} | {medians[-1]:.2f} | "
                f"{statistics.quantiles(short, n=20)[-1]:.2f} | {statistics.median(long):.2f} | "
                f"{whole:.1f} |",
                flush=True,
            )
        same = sum(one == two for one, two in zip(*replies, strict=True))
        print(f"short replies {medians[0] / medians[1]:.2f} times as fast, {same} of {len(samples)} the same")


if __name__ == "__main__":
    main()
