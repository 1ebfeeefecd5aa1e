"""Training speed and peak memory: prefix sharing against TRL's own trainers, LoRA, both sides in one run.

    python -m benchmarks.training_speed --model runs/demo/model --precision float32
    python -m benchmarks.training_speed --model runs/demo/model --cases dpo-ragtruth sft-xquad --data-dir
    DATA

Cases: preference pairs of 955 prompt tokens with completions of 65 and 61, and of 1,918 with 52 and 52;
contrast pairs (a faithful and a hallucinated answer, verdict mode) about documents of 700 tokens; and both
with real rows of RAGTruth's training split and of XQuAD. TRL's side is its unmodified trainer: its collator,
its LM head, transformers' default attention. Both sides see the same token ids, in the same number format,
with the same number of rows per batch. Every measurement runs in its own process; the sides take turns, and
the first step of each is not counted (or more, ``--warmup``, because FlexAttention compiles). Prints a
Markdown table with the median of the rounds: pairs or rows per second, and the growth in peak memory during
training (of the GPU if there is one).
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.training_rows import CASES, make_rows

SIDES = ("shared", "trl")


def make_trainer(case: str, side: str, rows: list[dict[str, Any]], settings: Any) -> Any:
    """The trainer of one side, ready to train; ``settings.dpo`` may hold further arguments of DPO."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    from judge.models.prefix_tree import can_share
    from judge.models.weights import load_weights
    from judge.training.data import Example
    from judge.training.models import leave_casts_to_autocast
    from judge.training.pairs import collate_pairs, share_prompts
    from judge.training.sharing import collate_sequences, share
    from judge.training.trainer import JudgeDPOTrainer, JudgeSFTTrainer

    class TokenizedDPOTrainer(DPOTrainer):
        """TRL's trainer, on rows that are already token ids."""

        def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
            return dataset

    gpu = torch.cuda.is_available()
    if side == "shared":
        model, tokenizer = load_weights(settings.model, precision=settings.precision)
        assert can_share(model)
    else:
        dtype = getattr(torch, settings.precision)
        model = AutoModelForCausalLM.from_pretrained(settings.model, dtype=dtype)
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    common: dict[str, Any] = {
        "output_dir": tempfile.gettempdir(),
        "max_steps": settings.steps + getattr(settings, "warmup", 1),
        "learning_rate": 1e-5,
        "bf16": settings.precision == "bfloat16",
        "fp16": settings.precision == "float16",
        "use_cpu": not gpu,
        "report_to": "none",
        "save_strategy": "no",
        "logging_steps": 1,
        "disable_tqdm": True,
        "max_length": None,
        "remove_unused_columns": False,
        "gradient_checkpointing": settings.gradient_checkpointing,
        "data_seed": 0,
    }
    parts: dict[str, Any] = {
        "model": model.cuda() if gpu else model,
        "processing_class": tokenizer,
        "peft_config": LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"),
    }
    if case.startswith("dpo"):
        parts["train_dataset"] = Dataset.from_list(rows)
        special = getattr(settings, "dpo", {})
        arguments = DPOConfig(**common, **special, per_device_train_batch_size=settings.batch)
        if side == "trl":
            return TokenizedDPOTrainer(**parts, args=arguments)
        share_prompts(model)
        trainer: Any = JudgeDPOTrainer(
            **parts, args=arguments, data_collator=partial(collate_pairs, pad_id=tokenizer.pad_token_id)
        )
    elif side == "trl":
        parts["train_dataset"] = Dataset.from_list(
            [
                {
                    "input_ids": row["prompt"] + row["completion"],
                    "completion_mask": [0] * len(row["prompt"]) + [1] * len(row["completion"]),
                }
                for row in rows
            ]
        )
        size = 2 * settings.batch  # a contrast pair is two rows here, and one tree with prefix sharing
        arguments = SFTConfig(**common, per_device_train_batch_size=size, completion_only_loss=True)
        return SFTTrainer(**parts, args=arguments)
    else:
        examples = [
            Example(str(at), row["group"], tuple(row["prompt"]), (tuple(row["completion"]),))
            for at, row in enumerate(rows)
        ]
        parts["train_dataset"] = Dataset.from_list(share(examples, 10**6, "token"))
        arguments = SFTConfig(
            **common,
            per_device_train_batch_size=settings.batch,
            dataset_kwargs={"skip_prepare_dataset": True},
        )
        trainer = JudgeSFTTrainer(
            **parts, args=arguments, data_collator=partial(collate_sequences, pad_id=tokenizer.pad_token_id)
        )
    leave_casts_to_autocast(trainer)
    return trainer


def measure(case: str, side: str, rows: list[dict[str, Any]], settings: Any) -> dict[str, float]:
    """Train a few steps in this process; returns pairs or rows per second, and peak memory in MiB."""
    import torch
    from transformers import TrainerCallback

    trainer = make_trainer(case, side, rows, settings)
    gpu = torch.cuda.is_available()

    class Clock(TrainerCallback):
        begin = end = 0.0

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if gpu:
                torch.cuda.synchronize()
            if state.global_step == settings.warmup:
                self.begin = time.perf_counter()
            self.end = time.perf_counter()

    clock = Clock()
    trainer.add_callback(clock)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    trainer.train()
    if gpu:
        peak = torch.cuda.max_memory_allocated() / 2**20
    else:
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    units = settings.batch if case.startswith("dpo") else 2 * settings.batch
    return {"rate": units * settings.steps / (clock.end - clock.begin), "peak": peak}


def mean_tokens(rows: list[dict[str, Any]]) -> float:
    """Mean tokens per row, with the prompt counted once."""
    return statistics.mean(
        sum(len(value) for value in row.values() if isinstance(value, list)) for row in rows
    )


def main() -> None:
    """Measure every case on both sides, in turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES[:3])
    parser.add_argument("--precision", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--batch", type=int, default=2, help="pairs of a batch")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=1, help="steps before these that do not count")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--gradient-checkpointing", action="store_true")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "SIDE", "ROWS"), help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.one:
        case, side, file = settings.one
        print(json.dumps(measure(case, side, json.loads(Path(file).read_text()), settings)))
        return
    print(f"{settings.model}, {settings.precision}, LoRA rank 16, batch {settings.batch}\n")
    print("| case | mean tokens | shared, 1/s | TRL, 1/s | ratio | shared, MiB | TRL, MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in settings.cases:
            rows = make_rows(case, settings.model, settings.data_dir)
            file = Path(folder) / f"{case}.json"
            file.write_text(json.dumps(rows))
            found: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
            for _ in range(settings.rounds):
                for side in SIDES:
                    command = [sys.executable, "-m", "benchmarks.training_speed", *sys.argv[1:]]
                    command += ["--one", case, side, str(file)]
                    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
                    found[side].append(json.loads(output.splitlines()[-1]))
            rate, peak = (
                {side: statistics.median(result[name] for result in found[side]) for side in SIDES}
                for name in ("rate", "peak")
            )
            tokens = mean_tokens(rows)
            print(
                f"| {case} | {tokens:.0f} | {rate['shared']:.3f} | {rate['trl']:.3f} "
                f"| {rate['shared'] / rate['trl']:.2f} | {peak['shared']:.0f} | {peak['trl']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
