"""Training on short documents: each in a sequence of its own, or joined (``join_documents``).

    python -m benchmarks.joined_documents --model runs/demo/model --data DATA

Draws rows of a built data set by whole documents, and trains a new LoRA adapter of rank 16 on all of
them, once each way in turns, with as many padded tokens in a step. Prints a Markdown table: computed
tokens, rows per second (the median of the rounds), and their ratios.
"""

import argparse
import statistics
import time
from pathlib import Path
from typing import Any


def packed(model: str, data: Path, rows: int, sequence_tokens: int) -> dict[bool, list[dict[str, Any]]]:
    """The sequences of a number of rows, apart and joined."""
    from judge.models.weights import load_tokenizer
    from judge.prompting.rendering import Renderer
    from judge.training.data import load_examples
    from judge.training.sharing import share, shuffle_documents

    renderer = Renderer(load_tokenizer(model))
    examples = load_examples(data / "sft/train.jsonl", ("completion",), renderer, max_length=1024)
    some = shuffle_documents(examples, 0)[:rows]
    return {join: share(some, sequence_tokens, join=join) for join in (False, True)}


def train(network: Any, optimizer: Any, sequences: list[dict[str, Any]], most_tokens: int, pad: int) -> float:
    """Seconds of one pass; a step takes sequences of similar length, ``most_tokens`` with their padding."""
    import torch
    from accelerate import Accelerator

    from judge.models.batching import by_length
    from judge.training.sharing import collate_sequences
    from judge.training.trainer import weighted_losses

    accelerator = Accelerator(cpu=not torch.cuda.is_available(), mixed_precision="bf16")
    begin = time.perf_counter()
    for batch in by_length([row["length"] for row in sequences], most_tokens):
        inputs = collate_sequences([sequences[at] for at in batch], pad)
        losses, weights, _ = weighted_losses(accelerator, network, inputs)
        (losses.sum() / weights.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()
    return time.perf_counter() - begin


def main() -> None:
    """Train both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--sequence-tokens", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=2)
    settings = parser.parse_args()

    import torch
    from peft import LoraConfig, get_peft_model

    from judge.models.weights import load_weights

    model, tokenizer = load_weights(settings.model, precision="bfloat16")
    network = get_peft_model(
        model, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    )
    optimizer = torch.optim.AdamW([one for one in network.parameters() if one.requires_grad], lr=1e-5)
    sequences = packed(settings.model, settings.data, settings.rows, settings.sequence_tokens)
    pad = tokenizer.pad_token_id
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(settings.rounds):
        for join, some in sequences.items():
            seconds[join].append(train(network, optimizer, some, 2 * settings.sequence_tokens, pad))
    tokens = {join: sum(row["length"] for row in some) for join, some in sequences.items()}
    rate = {join: settings.rows / statistics.median(taken) for join, taken in seconds.items()}
    print("| documents | sequences | computed tokens | rows per second |")
    print("| --- | ---: | ---: | ---: |")
    for join, some in sequences.items():
        print(f"| {'joined' if join else 'apart'} | {len(some)} | {tokens[join]:,} | {rate[join]:.2f} |")
    print(f"| ratio | | {tokens[False] / tokens[True]:.2f} | {rate[True] / rate[False]:.2f} |")


if __name__ == "__main__":
    main()
