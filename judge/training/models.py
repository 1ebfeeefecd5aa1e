"""What both trainers need: the model to train, LoRA settings, the files of a data set."""

import time
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.models.hardware import local_rank
from judge.models.prefix_tree import can_share
from judge.models.weights import find_model, load_weights
from judge.training.arguments import (
    check_optimizer,
    check_quantization,
    sharded_loading,
    weight_precision_of,
)
from judge.training.config import DPORecipe, SFTRecipe, TrainingConfig
from judge.training.gate import check_leak_gate


def load_trainable(recipe: TrainingConfig) -> tuple[Any, Any]:
    """The base model and tokenizer of a recipe, weights in the number format that suits the device.

    Norms and the LM head of a quantized model stay in the training's own format: the models compute their
    norms in float32 whatever their weights are in, and :mod:`judge.models.heads` does so with the head.

    Raises:
        InputError: the model is unknown, or is an adapter that has to be merged first; or the recipe wants of
            quantized weights or of the attention what they cannot do.
        JudgeError: the weights cannot be loaded.
    """
    import torch

    check_quantization(recipe)
    check_optimizer(recipe)
    if recipe.attention == "flex_attention" and not torch.cuda.is_available():
        raise InputError("attention flex_attention trains on GPUs alone; leave it at auto")
    _, adapter = find_model(recipe.model)
    if adapter is not None:
        raise InputError(
            f"{recipe.model} is a LoRA adapter; merge it first: judge merge {recipe.model} -o DIR"
        )
    with sharded_loading(recipe):
        model, tokenizer = load_weights(
            recipe.model,
            precision=weight_precision_of(recipe),
            quantization=recipe.quantization,
            device=f"cuda:{local_rank()}" if torch.cuda.is_available() else "cpu",
        )
    if recipe.quantization is not None:
        # TRL casts the adapters of a model that says so to bfloat16. A T4 has none, its gradient scaler wants
        # float32, and anywhere else an update of less than 1/256 of a weight would round to nothing.
        model.is_loaded_in_4bit = False
    if recipe.attention != "auto":
        model.set_attn_implementation(recipe.attention)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def shares_prefixes(recipe: SFTRecipe | DPORecipe, model: Any) -> bool:
    """Whether rows with a common prompt train together; says so where the model cannot."""
    if recipe.prefix_sharing and not can_share(model):
        print(
            f"{recipe.model} cannot share prefixes (see judge.models.prefix_tree); rows train alone",
            flush=True,
        )
        return False
    return recipe.prefix_sharing


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
