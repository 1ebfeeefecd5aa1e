"""Reason mode and sampling on the transformers backend: batches by memory that what is done leaves, a cache
that is not copied at each token, against ``model.generate`` with transformers' own cache and attention on
batches of 8,192 padded tokens, which computes every row until the longest is done.

    python -m tests.bench.reply_batches MODEL --samples FILE [--rows 12] [--answers 5] [--new-tokens 128]

1. Reason mode's prompts about some samples, greedy: the replies of both sides must be the same.
2. The prompts by which SelfCheckGPT samples answers, each ``--answers`` times. Both sides go to the limit,
   for what is sampled is not the same.

Times are of the processor on a CPU, where other work may share it, and of the clock on a GPU.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig

from eval.baselines.prompts import ask_answer
from judge.backends.base import Decoding
from judge.backends.label_tokens import Tokens
from judge.backends.transformers import TransformersBackend
from judge.models.weights import load_model
from judge.prompting.prompts import BuiltinPrompt
from judge.samples import read_samples

BATCH_TOKENS = 8192


def as_before(
    backend: TransformersBackend, prompts: Sequence[Tokens], decoding: Decoding, stops: list[int]
) -> list[list[int]]:
    """The replies of ``model.generate``, in batches of padded tokens."""
    sampling = {"do_sample": True, "temperature": decoding.temperature, "top_k": 0, "top_p": 1.0}
    config = GenerationConfig(
        max_new_tokens=decoding.max_new_tokens,
        eos_token_id=stops or None,
        pad_token_id=backend.loaded.pad_id,
        **(sampling if decoding.temperature else {"do_sample": False}),
    )
    backend.model.generation_config = GenerationConfig()
    own = backend.model.config._attn_implementation
    backend.model.set_attn_implementation("sdpa")
    replies: dict[int, list[int]] = {}
    waiting = sorted(range(len(prompts)), key=lambda index: -len(prompts[index]))
    while waiting:
        longest = len(prompts[waiting[0]]) + decoding.max_new_tokens
        batch, waiting = waiting[: BATCH_TOKENS // longest or 1], waiting[BATCH_TOKENS // longest or 1 :]
        ids, mask = backend.decoder._pad([prompts[index] for index in batch])
        with torch.inference_mode():
            rows = backend.model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
        for index, row in zip(batch, rows[:, ids.shape[1] :].tolist(), strict=True):
            end = next((at for at, token in enumerate(row) if token in stops), len(row))
            replies[index] = row[: end + 1]
    backend.model.set_attn_implementation(own)
    return [replies[index] for index in range(len(prompts))]


def timed(cuda: bool, work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work gives, and the seconds that it took."""
    clock = time.perf_counter if cuda else time.process_time
    start = clock()
    found = work()
    return found, clock() - start


def main() -> None:
    """Run both sides on both tasks and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=12)
    parser.add_argument("--answers", type=int, default=5, help="0 leaves the second task out")
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--precision", default="auto")
    options = parser.parse_args()
    backend = TransformersBackend(load_model(options.model, precision=options.precision))
    cuda = backend.model.device.type == "cuda"
    samples = list(read_samples(options.samples))[: options.rows]

    def encode(messages: Any) -> Tokens:
        return tuple(backend.renderer.encode(backend.renderer.prompt_text(messages)))

    reasons = [encode(BuiltinPrompt().messages(sample, "reason")) for sample in samples]
    some = samples[: -(-len(samples) // options.answers)] if options.answers else []
    answers = [encode(ask_answer(sample, sample.document_text)) for sample in some] * options.answers
    stops = backend.renderer.stop_ids()
    print(f"{options.model}, {backend.describe()['dtype']} on {backend.model.device}")
    print("| task | replies | tokens of a prompt | of a reply: mean | longest | s | before | ratio | same |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for task, prompts, decoding, ends in (
        ("reason, greedy", reasons, Decoding(options.new_tokens), stops),
        (f"{options.answers} samples a prompt", answers, Decoding(options.new_tokens, 1.0), []),
    ):
        if not prompts:
            continue
        backend.decoder.write(prompts[:1], Decoding(2), ends)  # what is made at the first call
        found, seconds = timed(cuda, lambda p=prompts, d=decoding, e=ends: backend.decoder.write(p, d, e))
        other, before = timed(cuda, lambda p=prompts, d=decoding, e=ends: as_before(backend, p, d, e))
        lengths = [len(reply) for reply in found]
        print(
            f"| {task} | {len(prompts)} | {sum(map(len, prompts)) / len(prompts):.0f} | "
            f"{sum(lengths) / len(lengths):.0f} | {max(lengths)} | {seconds:.1f} | {before:.1f} | "
            f"{before / seconds:.2f} | {'-' if decoding.temperature else found == other} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
