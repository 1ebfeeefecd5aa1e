"""What a decoder judge computes: attention in blocks against PyTorch's, share of the GEMM peak, logits.

    taskset -c 1 python -m tests.bench.decoder_speed --model runs/demo/model --data runs/demo/data

On sequences of a built data set, one pass forward and backward with LoRA (rank 16), or one forward pass for
judging (``--judging``), with both implementations of attention in turns, and in between the products of
matrices that the layers cannot do without, by themselves: that is the peak. Prints medians of the
processor's own time, which other work on the core lengthens little; in the share of the peak, time is that
of these products. Then (and with ``--batches 0`` nothing else) how many logits training and judging read of
the set, beside the union of their columns over the rows of a batch.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from judge.backends.transformers import TransformersBackend
from judge.judge import Judge
from judge.models.attention import NAME
from judge.models.prefix_tree import PrefixTree
from judge.models.weights import LoadedModel, load_weights
from judge.prompting.rendering import Renderer
from judge.samples import read_samples
from judge.training.data import IGNORED, load_examples
from judge.training.sharing import SharedCollator, share
from judge.training.trainer import weighted_losses

SIDES = ("sdpa", NAME)


def make_model(name: str, precision: str) -> tuple[Any, Any]:
    """A model with LoRA as training has it, and its tokenizer."""
    from peft import LoraConfig, get_peft_model
    from peft.tuners.tuners_utils import BaseTunerLayer

    base, tokenizer = load_weights(name, precision=precision)
    settings = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(base, settings)
    for module in model.modules():
        if isinstance(module, BaseTunerLayer):
            module.cast_input_dtype_enabled = False
    return model, tokenizer


def products(model: Any, tokens: int, dtype: torch.dtype, training: bool) -> Callable[[], None]:
    """The frozen products of the layers alone: forward, and for training the gradients of the inputs."""
    layers = model.get_base_model().base_model.layers
    shapes = [module.weight.shape for module in layers[0].modules() if hasattr(module, "base_layer")]
    work = []
    for rows, columns in shapes:
        weight = torch.randn(rows, columns, dtype=dtype)
        work.append(
            (torch.randn(tokens, columns, dtype=dtype), weight, torch.randn(tokens, rows, dtype=dtype))
        )

    def run() -> None:
        for _ in range(len(layers)):
            for given, weight, gradient in work:
                torch.nn.functional.linear(given, weight)
                if training:
                    gradient @ weight

    return run


def one_pass(model: Any, batch: Any, side: str, autocast: Any, training: bool) -> Callable[[], None]:
    """A pass of one side: the loss and its gradients, or the loss alone."""
    accelerator: Any = SimpleNamespace(unwrap_model=lambda model: model.get_base_model(), autocast=autocast)

    def run() -> None:
        model.get_base_model().set_attn_implementation(side)
        with autocast(), torch.set_grad_enabled(training):
            losses, weights, _ = weighted_losses(accelerator, model, batch)
        if training:
            (losses.sum() / weights.sum()).backward()
            model.zero_grad()

    return run


def medians(runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
    """Seconds of each, taken in turns after one that warms up."""
    found: list[list[float]] = [[] for _ in runs]
    for turn in range(rounds + 1):
        for run, times in zip(runs, found, strict=True):
            begin = time.process_time()
            run()
            if turn:
                times.append(time.process_time() - begin)
    return [statistics.median(times) for times in found]


def logits(sequences: Sequence[Any], rows: int) -> tuple[int, int]:
    """Logits that are read in batches of so many sequences, and those of all columns that any row reads."""
    read = union = 0
    for start in range(0, len(sequences), rows):
        labels = SharedCollator(0)(sequences[start : start + rows])["labels"] != IGNORED
        read += int(labels.sum())
        union += int(labels.any(0).sum()) * len(labels)
    return read, union


class Counting(TransformersBackend):
    """The engine without its model's work: it counts what logits would be read."""

    read = union = 0

    def _forward(self, trees: Sequence[PrefixTree], places: torch.Tensor) -> torch.Tensor:
        self.read += int(places.sum())
        self.union += int(places.any(0).sum()) * len(places)
        return torch.zeros(int(places.sum()), self.model.config.vocab_size)


def main() -> None:
    """Measure every batch on both sides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True, help="a built data set")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--judging", action="store_true", help="forward alone")
    parser.add_argument("--batch", type=int, default=2, help="sequences of a batch")
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--sequence-tokens", type=int, default=2048, help="0: every row by itself")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=300, help="of the set, for the logits of judging")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = make_model(options.model, options.precision)
    dtype = getattr(torch, options.precision)
    sixteen = options.precision == "bfloat16"
    rows = load_examples(options.data / "sft" / "train.jsonl", ("completion",), Renderer(tokenizer), 1536)
    sequences = share(rows, options.sequence_tokens)
    sequences.sort(key=lambda sequence: sequence["length"])  # neighbours are of like length, as in training
    starts = range(0, len(sequences) - options.batch + 1, options.batch)
    training = not options.judging
    print(
        "| tokens | PyTorch's attention, tokens/s | in blocks, tokens/s | ratio | of the peak | in blocks |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for start in sorted(random.Random(0).sample(starts, options.batches)):
        picked = sequences[start : start + options.batch]
        batch = SharedCollator(0)(picked)
        tokens = sum(sequence["length"] for sequence in picked)
        autocast = (lambda: torch.autocast("cpu", torch.bfloat16)) if sixteen else nullcontext
        runs = [one_pass(model, batch, side, autocast, training) for side in SIDES]
        slow, fast, least = medians(
            [*runs, products(model, batch["input_ids"].numel(), dtype, training)], options.rounds
        )
        print(
            f"| {tokens} | {tokens / slow:.0f} | {tokens / fast:.0f} | {slow / fast:.2f} "
            f"| {least / slow:.0%} | {least / fast:.0%} |",
            flush=True,
        )
    print("\n| batches | logits read | of the union of columns | ratio |")
    print("| ---: | ---: | ---: | ---: |")
    for count in (1, 2, 8):
        read, union = logits(sequences, count)
        print(f"| training, {count} | {read} | {union} | {union / read:.2f} |")
    samples = list(islice(read_samples(options.data / "samples.jsonl"), options.samples))
    loaded = LoadedModel(model.get_base_model(), tokenizer, options.model, None, 8192)
    for prefill in (2048, 8192):
        backend = Counting(loaded, batch_tokens=prefill)
        Judge(backend).check(samples)
        line = f"| judging, {prefill} tokens | {backend.read} | {backend.union} "
        print(f"{line}| {backend.union / backend.read:.2f} |")


if __name__ == "__main__":
    main()
