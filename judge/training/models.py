"""What both trainers need: the model to train, LoRA settings, trainer arguments, clear failures."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError
from judge.loading import default_precision, find_model, load_weights
from judge.training.card import save_judge
from judge.training.config import TrainingConfig
from judge.training.gate import check_leak_gate


def load_trainable(recipe: TrainingConfig) -> tuple[Any, Any]:
    """The base model and tokenizer of a recipe, weights in the number format that suits the device.

    Raises:
        InputError: the model is unknown, or is an adapter that has to be merged first.
        JudgeError: the weights cannot be loaded.
    """
    _, adapter = find_model(recipe.model)
    if adapter is not None:
        raise InputError(
            f"{recipe.model} is a LoRA adapter; merge it first: judge merge {recipe.model} -o DIR"
        )
    model, tokenizer = load_weights(recipe.model, precision=precision_of(recipe))
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def precision_of(recipe: TrainingConfig) -> str:
    """The number format that a recipe trains in: its own, or what the device can do."""
    return default_precision(training=True) if recipe.precision == "auto" else recipe.precision


def lora_config(recipe: TrainingConfig) -> Any:
    """PEFT's settings for the recipe's adapters, or ``None`` for full fine-tuning."""
    from peft import LoraConfig

    if recipe.lora is None:
        return None
    return LoraConfig(
        r=recipe.lora.rank,
        lora_alpha=recipe.lora.alpha,
        lora_dropout=recipe.lora.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def common_arguments(recipe: TrainingConfig, sequences: int) -> dict[str, Any]:
    """Trainer arguments that follow from a recipe; number formats by what the device can do."""
    import torch

    processes = int(os.environ.get("WORLD_SIZE", "1"))
    per_step = recipe.batch_size * recipe.gradient_accumulation * processes
    steps = recipe.max_steps if recipe.max_steps > 0 else max(1, round(recipe.epochs * sequences / per_step))
    gpu = torch.cuda.is_available()
    precision = precision_of(recipe)
    return {
        "output_dir": recipe.output,
        "num_train_epochs": recipe.epochs,
        "max_steps": recipe.max_steps,
        "per_device_train_batch_size": recipe.batch_size,
        "per_device_eval_batch_size": recipe.batch_size,
        "gradient_accumulation_steps": recipe.gradient_accumulation,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.scheduler,
        "lr_scheduler_kwargs": (
            {"num_decay_steps": max(1, steps // 5)} if recipe.scheduler == "warmup_stable_decay" else {}
        ),
        "warmup_steps": int(recipe.warmup_ratio * steps),
        "weight_decay": recipe.weight_decay,
        "max_grad_norm": recipe.max_grad_norm,
        "gradient_checkpointing": recipe.gradient_checkpointing,
        "bf16": precision == "bfloat16",
        "fp16": gpu and precision == "float16",
        "use_cpu": not gpu,
        "eval_strategy": "steps" if recipe.evaluations else "no",
        "eval_steps": max(1, steps // recipe.evaluations) if recipe.evaluations else None,
        "logging_steps": recipe.logging_steps,
        "logging_nan_inf_filter": False,  # else the log would hide what check_finite looks for
        "save_strategy": "no",  # the finished adapter is saved once, whole
        "report_to": list(recipe.report_to) or "none",
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "remove_unused_columns": False,
        "dataloader_pin_memory": gpu,
        "max_length": None,  # rows were fitted already, by their document
    }


def time_limit(minutes: float) -> Any:
    """A trainer callback that ends training at the first step after ``minutes``."""
    from transformers import TrainerCallback

    class TimeLimit(TrainerCallback):
        def __init__(self) -> None:
            self.end = time.monotonic() + 60 * minutes

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            control.should_training_stop |= time.monotonic() > self.end
            return control

    return TimeLimit()


def leave_casts_to_autocast(trainer: Any) -> None:
    """Keep PEFT from casting inputs up to its float32 adapters where autocast casts them down again."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    if trainer.args.bf16 or trainer.args.fp16:
        for module in trainer.model.modules():
            if isinstance(module, BaseTunerLayer):
                module.cast_input_dtype_enabled = False


def check_finite(history: list[dict[str, Any]]) -> None:
    """Refuse weights after a loss that is no number. Raises ``JudgeError``."""
    for entry in history:
        loss = entry.get("loss", entry.get("train_loss", 0.0))  # the latter is the mean of the whole run
        if loss != loss or loss in (float("inf"), float("-inf")):
            raise JudgeError(
                f"the loss became {loss} at step {entry.get('step')}; nothing was saved. "
                "Lower learning_rate, or use a wider number format (precision)"
            )


def train_and_save(
    trainer: Any,
    tokenizer: Any,
    recipe: TrainingConfig,
    summary: dict[str, Any],
    stage: str,
    logged: Sequence[str] = (),
) -> dict[str, Any]:
    """Run a trainer to its end and save the judge; returns the summary with what the run adds to it.

    Args:
        summary: counts of the training set.
        stage: ``sft`` or ``dpo``, for ``judge.json`` and the card.
        logged: figures of the trainer's log that are kept beside the losses.

    Raises:
        JudgeError: the loss became no number; nothing is saved then.
    """
    leave_casts_to_autocast(trainer)
    result = trainer.train()
    check_finite(trainer.state.log_history)
    summary = {
        **summary,
        "steps": trainer.state.global_step,
        "epochs": round(trainer.state.epoch or 0.0, 2),
        "seconds": round(result.metrics["train_runtime"], 1),
        "losses": loss_history(trainer.state.log_history, logged),
    }
    if trainer.is_world_process_zero():
        save_judge(trainer.accelerator.unwrap_model(trainer.model), tokenizer, recipe, summary, stage)
    return summary


def loss_history(history: list[dict[str, Any]], extra: Sequence[str] = ()) -> list[dict[str, float]]:
    """The losses of a run by step, with ``extra`` figures, from the trainer's log."""
    keys = ("step", "loss", "eval_loss", *extra)
    return [
        {key: entry[key] for key in keys if key in entry}
        for entry in history
        if "loss" in entry or "eval_loss" in entry
    ]


def data_file(recipe: TrainingConfig, name: str) -> Path:
    """A file of the recipe's data set.

    Raises:
        InputError: it was not built, or holds rows to train on that did not pass the leak gate.
    """
    path = Path(recipe.data) / name
    if not path.is_file():
        raise InputError(
            f"is not there; build the data set first: judge data build CONFIG --out {recipe.data}", file=path
        )
    if name.endswith("train.jsonl") and not recipe.without_leak_gate:
        check_leak_gate(path, name, Path(recipe.data))
    return path
