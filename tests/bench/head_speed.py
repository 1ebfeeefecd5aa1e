"""A language model's head in float32 from weights of 16 bits: chunk by chunk against one converted copy.

    taskset -c 1 python -m tests.bench.head_speed --model runs/demo/model

Reads a head's weights and takes random hidden states and labels. One side converts all weights to float32
and multiplies, as ``linear(hidden.float(), weight.float())`` does; the other is
:func:`judge.models.float32_linear.float32_linear`. Judging is the forward pass alone, training the loss and
the gradient of the hidden states. Both run in turns on one thread. Prints medians of the processor's own
time and their ratio, the least time of the same products on weights that are float32 already, and the
largest relative difference of the two sides' results.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import cross_entropy, linear

from judge.models.float32_linear import float32_linear
from judge.models.weights import load_model

Head = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def converted(hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """What one would write."""
    return linear(hidden.float(), weight.float())


def judged(head: Head, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Logits."""
    with torch.no_grad():
        return head(hidden, weight)


def trained(head: Head, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The gradient of the hidden states."""
    given = hidden.clone().requires_grad_()
    cross_entropy(head(given, weight), labels).backward()
    assert given.grad is not None
    return given.grad


def medians(runs: Sequence[Callable[[], torch.Tensor]], rounds: int) -> tuple[list[float], float]:
    """Milliseconds of each, in turns after one that warms up; how far the first two's results differ."""
    found: list[list[float]] = [[] for _ in runs]
    results = [run() for run in runs]
    for _ in range(rounds):
        for run, times in zip(runs, found, strict=True):
            begin = time.process_time()
            run()
            times.append(1000 * (time.process_time() - begin))
    apart = (results[0] - results[1]).abs().max() / results[0].abs().max()
    return [statistics.median(times) for times in found], float(apart)


def main() -> None:
    """Measure judging and training at several numbers of positions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--positions", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    weight = load_model(options.model, precision="bfloat16").model.get_output_embeddings().weight.detach()
    exact = weight.float()
    print("| work | positions | one copy, ms | in chunks, ms | ratio | float32 weights, ms | apart |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for name, work in (("judging", judged), ("training", trained)):
        for positions in options.positions:
            hidden = torch.randn(positions, weight.shape[1])
            labels = torch.randint(len(weight), (positions,))
            (one, chunks, least), apart = medians(
                [
                    lambda: work(converted, hidden, weight, labels),  # noqa: B023 (it runs in this turn)
                    lambda: work(float32_linear, hidden, weight, labels),  # noqa: B023
                    lambda: work(linear, hidden, exact, labels),  # noqa: B023
                ],
                options.rounds,
            )
            print(
                f"| {name} | {positions} | {one:.1f} | {chunks:.1f} | {one / chunks:.2f} "
                f"| {least:.1f} | {apart:.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
