"""Numerical differences between prefix sharing and TRL's own trainers on a real model, in float32 with LoRA.

    python -m benchmarks.exactness --model runs/demo/model --data-dir DATA --steps 20

For DPO with each of four losses, with and without a precomputed reference, on pairs of unequal lengths:
relative difference of the loss, of the per-token log-probabilities and of all LoRA gradients together. For
SFT, the same on contrast pairs against TRL's trainer on separate rows. Then the loss curves over ``--steps``.
Adapters do not start at zero, so that policy and reference differ.
"""

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks.training_rows import make_rows
from benchmarks.training_speed import make_trainer

LOSSES = ("sigmoid", "ipo", "hinge", "sigmoid_norm")


def both_sides(case: str, rows: list[dict[str, Any]], model: str, steps: int, **changes: Any) -> list[Any]:
    """The trainer of each side, with the same adapters; ``changes`` are settings of ``make_trainer``."""
    usual = {"precision": "float32", "batch": 2, "gradient_checkpointing": False}
    settings = SimpleNamespace(model=model, steps=steps - 1, **{**usual, **changes})
    trainers = [make_trainer(case, side, rows, settings) for side in ("shared", "trl")]
    for trainer in trainers:
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in trainer.model.parameters():
                if parameter.requires_grad:
                    # Drawn on the host: a GPU would give other numbers.
                    parameter.add_(0.01 * torch.randn(parameter.shape).to(parameter))
    return trainers


def one_step(trainer: Any, batch: dict[str, torch.Tensor]) -> tuple[float, torch.Tensor]:
    """Loss and all gradients of a batch."""
    trainer.model.train()
    trainer.model.zero_grad()
    with trainer.accelerator.autocast():
        loss = trainer.compute_loss(trainer.model, trainer._prepare_inputs(batch))
    loss.backward()
    trained = [parameter for parameter in trainer.model.parameters() if parameter.requires_grad]
    return loss.item(), torch.cat([parameter.grad.float().cpu().flatten() for parameter in trained])


def relative(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Norm of the difference divided by the norm of ``expected``."""
    return ((found - expected).norm() / expected.norm()).item()


def log_probabilities(trainer: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Log-probabilities of all completion tokens, row after row."""
    batch = trainer._prepare_inputs(batch)
    mask = batch["completion_mask"]
    labels = batch["input_ids"].masked_fill(mask == 0, -100)
    inputs = {name: value for name, value in batch.items() if not name.startswith(("ref_", "completion"))}
    with torch.no_grad(), trainer.accelerator.autocast():
        found = trainer.model(**inputs, labels=labels, fused_lm_head=True).log_probs
    return found[mask[:, 1:].bool()].float().cpu()


def differences(
    case: str, rows: list[dict[str, Any]], model: str, **changes: Any
) -> dict[str, tuple[float, float]]:
    """Relative differences of ``loss``, ``log-probabilities`` (DPO) and ``gradients``.

    Two of each: prefix sharing against TRL, and TRL against itself with its rows padded differently.
    """
    sides = both_sides(case, rows, model, 1, **changes)
    count = 3 if case.startswith("dpo") else 6  # a contrast pair is two rows in TRL
    sizes = (3, count)
    picked = [
        [side.train_dataset[row] for row in range(size)] for side, size in zip(sides, sizes, strict=True)
    ]
    batches = [side.data_collator(part) for side, part in zip(sides, picked, strict=True)]
    sides[1].data_collator.pad_to_multiple_of = 64
    batches.append(sides[1].data_collator(picked[1]))
    sides.append(sides[1])
    results = [one_step(side, batch) for side, batch in zip(sides, batches, strict=True)]
    losses = [loss for loss, _ in results]
    found = {"loss": tuple(abs(losses[at] - losses[1]) / abs(losses[1]) for at in (0, 2))}
    if case.startswith("dpo"):
        tokens = [log_probabilities(side, batch) for side, batch in zip(sides, batches, strict=True)]
        found["log-probabilities"] = tuple(relative(tokens[at], tokens[1]) for at in (0, 2))
    found["gradients"] = tuple(relative(results[at][1], results[1][1]) for at in (0, 2))
    return found


def compare(case: str, rows: list[dict[str, Any]], model: str, **dpo: Any) -> str:
    """The figures of one row of the table."""
    found = differences(case, rows, model, dpo=dpo)
    figures = [found.get(name) for name in ("loss", "log-probabilities", "gradients")]
    return " | ".join("" if pair is None else f"{pair[0]:.1e} ({pair[1]:.1e})" for pair in figures)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    rows = {
        case: make_rows(case, arguments.model, arguments.data_dir)
        for case in ("dpo-short", "dpo-xquad", "sft-xquad")
    }
    print("Relative differences; in brackets those of TRL with itself, its rows padded otherwise.\n")
    print("| rows | loss | reference | loss | log-probabilities | gradients |")
    print("| --- | --- | --- | ---: | ---: | ---: |", flush=True)
    for case, losses in (("dpo-short", LOSSES), ("dpo-xquad", LOSSES[:1])):
        for loss in losses:
            for precomputed in (False, True):
                cells = compare(
                    case, rows[case], arguments.model, loss_type=[loss], precompute_ref_log_probs=precomputed
                )
                reference = "precomputed" if precomputed else "adapter off"
                print(f"| {case} | {loss} | {reference} | {cells} |", flush=True)
    print(f"| sft-xquad | | | {compare('sft-xquad', rows['sft-xquad'], arguments.model)} |", flush=True)

    if not arguments.steps:
        return
    print("\n| rows | steps | first loss | last loss | losses differ by at most |")
    print("| --- | ---: | ---: | ---: | ---: |", flush=True)
    for case in ("dpo-short", "sft-xquad"):
        curves = []
        for side in both_sides(case, rows[case], arguments.model, arguments.steps):
            side._get_train_sampler = lambda data=None, side=side: range(len(data or side.train_dataset))
            side.train()
            curves.append([entry["loss"] for entry in side.state.log_history if "loss" in entry])
        apart = max(abs(mine - other) for mine, other in zip(*curves, strict=True))
        first, last = curves[1][0], curves[1][-1]
        print(f"| {case} | {len(curves[0])} | {first:.4f} | {last:.4f} | {apart:.1e} |", flush=True)


if __name__ == "__main__":
    main()
