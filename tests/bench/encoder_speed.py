"""What an encoder judge's own attention gains over PyTorch's kernel with a mask, both sides in one run.

    python -m tests.bench.encoder_speed --model DIR

Pages of several shapes (windows of a document, answers about it), bfloat16, forward and backward. The sides
take turns; prints a Markdown table of tokens a second, the median of the rounds, and their ratio.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from judge.encoder.layout import RUNS, Answer, Page
from judge.encoder.model import EncoderNetwork, PageBatch, start_network

SHAPES = {
    "claims: 1 window of 60, 2 answers of 20": (40, 1, 60, 2, 20),
    "reading tests: 1 window of 350, 20 answers of 20": (5, 1, 350, 20, 20),
    "RAGTruth: 2 windows of 350, 5 answers of 170": (3, 2, 350, 5, 170),
    "long: 8 windows of 512, 2 answers of 100": (1, 8, 512, 2, 100),
}
"""Pages of a batch, windows, their tokens, answers, their tokens."""


def make_batch(pages: int, windows: int, window: int, answers: int, answer: int) -> PageBatch:
    """A batch of pages with random tokens."""
    generator = torch.Generator().manual_seed(0)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(1000, 20000, (count,), generator=generator).tolist())

    def one() -> Answer:
        levels = tuple(torch.randint(0, len(RUNS) + 1, (answer,), generator=generator).tolist())
        return Answer(ids(answer), 1, tuple((at, at + 1) for at in range(answer - 2)), levels)

    return PageBatch.of(
        [
            Page(tuple(ids(window) for _ in range(windows)), tuple(one() for _ in range(answers)))
            for _ in range(pages)
        ]
    )


def seconds(network: EncoderNetwork, batch: PageBatch) -> float:
    """One forward and backward pass."""
    begin = time.perf_counter()
    with torch.autocast("cpu", torch.bfloat16):
        by_answer, by_token = network(batch)
    (by_answer.sum() + by_token.sum()).backward()
    network.zero_grad()
    return time.perf_counter() - begin


def with_mask(network: EncoderNetwork, run: Callable[[], float]) -> float:
    """A pass with PyTorch's own kernel and the dense mask."""
    network.dense = True
    try:
        return run()
    finally:
        network.dense = False


def main() -> None:
    """Measure both sides in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True, help="a BERT, such as all-MiniLM-L6-v2")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    network, _ = start_network(options.model)
    network.train()
    print("| pages | dense mask, tokens/s | ours, tokens/s | ratio |\n| --- | ---: | ---: | ---: |")
    for name, shape in SHAPES.items():
        batch = make_batch(*shape)
        tokens = sum(block.end for block in batch.blocks)
        dense, ours = [], []
        for turn in range(options.rounds + 1):
            first = with_mask(network, lambda batch=batch: seconds(network, batch))  # type: ignore[misc]
            second = seconds(network, batch)
            if turn:  # the first one warms up
                dense.append(first)
                ours.append(second)
        slow, fast = statistics.median(dense), statistics.median(ours)
        print(f"| {name} | {tokens / slow:,.0f} | {tokens / fast:,.0f} | {slow / fast:.2f} |", flush=True)


if __name__ == "__main__":
    main()
