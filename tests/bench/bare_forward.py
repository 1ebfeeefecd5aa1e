"""What judging costs beyond the forward pass that it cannot do without.

    python -m tests.bench.bare_forward --model DIR --data-dir DIR [--encoder DIR] [--rows 40]

One answer a document of RAGTruth's test split, so that nothing is shared. Three sides read the same token
ids in the same number format: ``judge`` is :meth:`Judge.check` from sample to verdict; ``bare`` is
transformers' own model, one forward pass a row, logits at the last position alone, the ids at hand; ``BERT``
is a BERT of about as many parameters with random weights (``BertConfig()``, 110 million), one forward pass
in pieces of 512 tokens. With ``--encoder`` also an encoder judge against transformers' BertModel of its size.
Seconds of the processor, the better of two rounds that take turns; prints a Markdown table.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks import get_benchmark
from judge.load import load_judge
from judge.types import Sample


def one_a_document(data: Path, rows: int, seed: int) -> list[Sample]:
    """Samples about different documents, drawn by the seed."""
    samples = get_benchmark("ragtruth").load(data)
    random.Random(seed).shuffle(samples)
    return list({sample.document_text: sample for sample in samples}.values())[:rows]


def seconds(sides: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The better of two rounds of each side, after one that does not count."""
    best = dict.fromkeys(sides, float("inf"))
    for turn in range(3):
        for name, work in sides.items():
            start = time.process_time()
            work()
            if turn:
                best[name] = min(best[name], time.process_time() - start)
    return best


def decoder_sides(folder: Path, precision: str, samples: Sequence[Sample]) -> dict[str, Callable[[], Any]]:
    """A language model as a judge, its bare forward pass, and a BERT on as many tokens."""
    import torch
    from transformers import AutoModelForCausalLM, BertConfig, BertModel

    judge: Any = load_judge(str(folder), precision=precision)
    rows: list[list[int]] = []
    read = judge.backend._forward
    judge.backend._forward = lambda trees, places: rows.extend(t.ids for t in trees) or read(trees, places)
    judge.check(samples)  # what it reads
    judge.backend._forward = read
    dtype = getattr(torch, precision)
    bare = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
    bert = BertModel(BertConfig()).to(dtype).eval()

    def forward() -> None:
        with torch.inference_mode():
            for ids in rows:
                bare(torch.tensor([ids]), logits_to_keep=1, use_cache=False)

    def encoder() -> None:
        with torch.inference_mode():
            for ids in rows:
                for start in range(0, len(ids), 512):
                    piece = torch.tensor([ids[start : start + 512]]) % bert.config.vocab_size
                    bert(piece)

    print(f"{folder}: {sum(map(len, rows)) / len(samples):.0f} tokens a row", flush=True)
    return {"judge": lambda: judge.check(samples), "bare": forward, "BERT": encoder}


def encoder_sides(folder: str, precision: str, samples: Sequence[Sample]) -> dict[str, Callable[[], Any]]:
    """An encoder judge, and transformers' BertModel on as many tokens."""
    import torch
    from transformers import BertConfig, BertModel

    judge: Any = load_judge(folder, precision=precision)
    tokens = [verdict.usage.prompt_tokens for verdict in judge.check(samples)]
    config = judge.network.backbone.config
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    bert = BertModel(BertConfig(**{name: getattr(config, name) for name in names}))
    bert = bert.to(getattr(torch, precision)).eval()

    def forward() -> None:
        with torch.inference_mode():
            for count in tokens:
                for start in range(0, count, 512):
                    bert(torch.ones(1, min(512, count - start), dtype=torch.long))

    return {"judge": lambda: judge.check(samples), "bare": forward}


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a language model")
    parser.add_argument("--encoder", help="an encoder judge, such as reference")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    samples = one_a_document(options.data_dir, options.rows, options.seed)
    print("| judge | format | rows/s | beside | rows/s | time of the judge |\n|" + " --- |" * 6)
    for name, make in ((options.model, decoder_sides), (options.encoder, encoder_sides)):
        for precision in options.precisions if name else ():
            took = seconds(make(name, precision, samples))
            for other in list(took)[1:]:
                speeds = [f"{len(samples) / took[side]:.2f}" for side in ("judge", other)]
                ratio = took["judge"] / took[other]
                print(
                    f"| {name} | {precision} | {speeds[0]} | {other} | {speeds[1]} | {ratio:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
