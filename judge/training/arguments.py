"""The arguments of transformers' trainer, derived from a recipe and the capabilities of the device."""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.errors import InputError, require, unknown
from judge.files import read_json
from judge.models import hardware
from judge.training.config import RunConfig, TrainingConfig
from judge.training.launch import check_gpu

FREE = {
    "optim", "adam_beta2", "warmup_steps", "logging_steps", "report_to", "dataloader_pin_memory",
    "dataloader_num_workers",
}  # fmt: skip
"""Arguments that have a default here and that a recipe may override under ``trainer``."""
OWN_LOSS = {
    "SFTConfig": (
        "loss_type", "packing", "padding_free", "completion_only_loss", "assistant_only_loss",
    ),
}  # fmt: skip
"""Trainer arguments that the losses and batches here ignore, besides ``label_smoothing_factor``."""
ADAMW = "adamw_torch_fused"


def check_trainer(kind: type, recipe: RunConfig) -> None:
    """Check what a recipe has under ``trainer``, before a model is loaded and rows are tokenized.

    Args:
        kind: ``TrainingArguments``, or TRL's ``SFTConfig`` or ``DPOConfig``.
        recipe: what to train.

    Raises:
        InputError: if an argument is unknown or has no effect, or a tracker (``trainer: {report_to:
            [trackio]}``) is not installed.
    """
    from transformers.integrations import get_available_reporting_integrations

    known = {field.name for field in dataclasses.fields(kind) if field.init}
    for name in recipe.trainer:
        if name not in known:
            raise InputError(unknown("argument", name, sorted(known)), field=f"trainer.{name}")
        if name == "label_smoothing_factor" or name in OWN_LOSS.get(kind.__name__, ()):
            raise InputError("has no effect on the loss here; omit it", field=f"trainer.{name}")
    asked = recipe.trainer.get("report_to") or []
    for name in [asked] if isinstance(asked, str) else asked:
        if name not in ("all", "none", *get_available_reporting_integrations()):
            raise InputError(f"{name} is not installed; pip install {name}", field="trainer.report_to")


def make_arguments(kind: type, recipe: RunConfig, **arguments: Any) -> Any:
    """The trainer's arguments: those derived from the recipe's own keys, then those under ``trainer``.

    Args:
        kind: ``TrainingArguments``, or TRL's ``SFTConfig`` or ``DPOConfig``.
        recipe: what to train; :func:`check_trainer` has checked it.
        arguments: those derived from the recipe's own keys.

    Raises:
        InputError: if an argument under ``trainer`` is decided by another key, or has a wrong value.
    """
    for name in recipe.trainer:
        if name in arguments and name not in FREE:
            raise InputError(
                "follows from other keys of the recipe; every key is described in judge/training/config.py",
                field=f"trainer.{name}",
            )
    try:
        return kind(**{**arguments, **recipe.trainer})
    except (TypeError, ValueError) as error:
        if not recipe.trainer:
            raise
        raise InputError(" ".join(str(error).split()), field="trainer") from error


def precision_of(recipe: RunConfig) -> str:
    """The number format of a recipe's matrix products: its own, or the one that suits the device.

    Raises:
        InputError: if the device cannot train in the recipe's format, or a requested GPU is missing.
    """
    check_gpu()
    device = hardware.this_device()
    if recipe.precision == "auto":
        return device.precision(training=True)
    device.check_precision(recipe.precision)
    return recipe.precision


def weight_precision_of(recipe: TrainingConfig) -> str:
    """The number format that a recipe's weights are loaded in.

    In full fine-tuning, weights stay in float32: an update of 1e-6 vanishes in a 16-bit weight, and float16's
    gradient scaler requires it. DeepSpeed and FSDP keep float32 copies of their own.
    """
    precision = precision_of(recipe)  # called in any case: it refuses unsupported formats before loading
    trained_whole = recipe.lora is None and sharding() is None
    return "float32" if trained_whole else precision


def sharding() -> str | None:
    """How ``accelerate launch`` shards a model: ``fsdp``, ``zero1`` to ``zero3``, or ``None``."""
    if os.environ.get("ACCELERATE_USE_FSDP") == "true":
        return "fsdp"
    if os.environ.get("ACCELERATE_USE_DEEPSPEED") != "true":
        return None
    stage = os.environ.get("ACCELERATE_DEEPSPEED_ZERO_STAGE", "2")
    if config := os.environ.get("ACCELERATE_DEEPSPEED_CONFIG_FILE"):
        stage = read_json(Path(config))["zero_optimization"]["stage"]
    return f"zero{stage}"


def check_optimizer(recipe: RunConfig) -> None:
    """Refuse optimizers whose kernels cannot handle the shards of FSDP.

    Raises:
        InputError: if the recipe has one; names alternatives.
    """
    name = optimizer_of(recipe)
    if sharding() == "fsdp" and "8bit" in name:
        raise InputError(
            f"{name} cannot run under FSDP: bitsandbytes takes no sharded tensors; set {ADAMW} or "
            "lion_32bit, or launch with accelerate_configs/zero2.yaml or zero3.yaml",
            field="trainer.optim",
        )


def check_quantization(recipe: TrainingConfig) -> None:
    """Refuse full fine-tuning and sharding of 4-bit weights, which are not possible.

    Raises:
        InputError: if the recipe asks for either; says what to set instead.
    """
    if recipe.quantization is None:
        return
    if recipe.lora is None:
        raise InputError(
            "4-bit weights cannot be trained themselves; set lora, or quantization: null",
            field="quantization",
        )
    if (spread := sharding()) in ("fsdp", "zero3"):
        raise InputError(
            f"4-bit weights cannot be cut into shards ({spread}); launch with "
            "accelerate_configs/ddp.yaml or zero2.yaml, or set quantization: null",
            field="quantization",
        )


def common_arguments(recipe: TrainingConfig, sequences: int) -> dict[str, Any]:
    """Arguments common to SFT and DPO.

    Args:
        recipe: what to train.
        sequences: rows of the training set, as the trainer counts them.

    Raises:
        InputError: if the device cannot train in the recipe's format, or the optimizer is not installed.
    """
    return {
        **run_arguments(recipe, sequences, recipe.batch_size),
        "gradient_checkpointing": recipe.gradient_checkpointing,
        "max_length": None,  # rows already fit: their documents were shortened
    }


def run_arguments(recipe: RunConfig, rows: int, batch_size: int) -> dict[str, Any]:
    """Arguments common to all trainings.

    Args:
        recipe: what to train.
        rows: rows of the training set, as the trainer counts them.
        batch_size: rows of a batch on each device.

    Raises:
        InputError: if the device cannot train in the recipe's format, or the optimizer is not installed.
    """
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    per_step = batch_size * recipe.gradient_accumulation * processes
    steps = recipe.max_steps if recipe.max_steps > 0 else max(1, round(recipe.epochs * rows / per_step))
    gpu = hardware.this_device().kind == "cuda"
    precision = precision_of(recipe)
    return {
        "output_dir": recipe.output,
        "num_train_epochs": recipe.epochs,
        "max_steps": recipe.max_steps,
        "per_device_train_batch_size": batch_size,
        "per_device_eval_batch_size": batch_size,
        "gradient_accumulation_steps": recipe.gradient_accumulation,
        **optimizer_arguments(recipe),
        "lr_scheduler_type": recipe.scheduler,
        "lr_scheduler_kwargs": (
            {"num_decay_steps": max(1, steps // 5)} if recipe.scheduler == "warmup_stable_decay" else {}
        ),
        "warmup_steps": int(recipe.warmup_ratio * steps),
        "bf16": precision == "bfloat16",
        "fp16": precision == "float16",
        "use_cpu": not gpu,
        "eval_strategy": "steps" if recipe.evaluations else "no",
        "eval_steps": max(1, steps // recipe.evaluations) if recipe.evaluations else None,
        "logging_steps": 10,
        "logging_nan_inf_filter": False,  # the filter would hide the loss at which training must stop
        "save_strategy": "no",  # callbacks.Durability saves, and marks complete checkpoints
        "disable_tqdm": True,  # callbacks.Shown shows the progress
        "report_to": "none",
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "remove_unused_columns": False,
        "dataloader_pin_memory": gpu,
        "dataloader_num_workers": 2 if gpu else 0,  # on a CPU they would take cores from training
    }


@contextmanager
def sharded_loading(recipe: TrainingConfig) -> Iterator[None]:
    """Within the block, ZeRO-3 shards a model while it is loaded, so that no process holds all of it.

    transformers does this while some training arguments exist. The trainer's own arguments need the number of
    rows, which depends on the tokenizer, so they are made after the model.
    """
    if sharding() != "zero3":
        yield
        return
    from transformers import TrainingArguments

    alive = TrainingArguments(**run_arguments(recipe, 1, recipe.batch_size))
    yield
    del alive


def optimizer_of(recipe: RunConfig) -> str:
    """transformers' name of the optimizer."""
    return str(recipe.trainer.get("optim", ADAMW))


def optimizer_arguments(recipe: RunConfig) -> dict[str, Any]:
    """The optimizer and its rates. Raises ``InputError`` if it is not installed."""
    name = optimizer_of(recipe)
    if "8bit" in name:
        require(f"optimizer {name}", "train", "bitsandbytes")
    # For transformers, lion_32bit is bitsandbytes' Lion; judge.training.trainer uses judge.training.lion.
    rates = {"adam_beta2": 0.99} if "lion" in name else {}
    return {"optim": name, "learning_rate": recipe.learning_rate, **rates}
