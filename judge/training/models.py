"""Shared by the trainers: loading the model to train, LoRA settings, the files of a data set."""

from functools import partial
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.models.base import find_model
from judge.models.hardware import local_rank
from judge.models.identity import read_identity, rounded_base, trained_quantization
from judge.models.prefix_tree import can_share
from judge.models.weights import load_weights, tokenizer_of
from judge.training.arguments import (
    check_optimizer,
    check_quantization,
    sharded_loading,
    sharding,
    weight_precision_of,
)
from judge.training.config import DPORecipe, RunConfig, SFTRecipe, TrainingConfig
from judge.training.gate import check_leak_gate


def load_trainable(recipe: TrainingConfig) -> tuple[Any, Any]:
    """Load the model and tokenizer that a recipe starts from, in the number format that suits the device.

    A LoRA adapter is loaded onto its base and trained further.
    Norms and LM head of a quantized model stay in the format of the training: models compute their norms in
    float32 whatever the format of the weights, and :mod:`judge.models.heads` does the same for the head.

    Raises:
        InputError: if the model is unknown, or does not support what the recipe asks for.
        JudgeError: if the weights cannot be loaded.
    """
    import torch

    check_quantization(recipe)
    check_optimizer(recipe)
    base, adapter = find_model(recipe.model)
    check_start(recipe, adapter)
    with sharded_loading(recipe):
        model, tokenizer = load_weights(
            base,
            precision=weight_precision_of(recipe),
            quantization=recipe.quantization,
            device=f"cuda:{local_rank()}" if torch.cuda.is_available() else "cpu",
        )
    if recipe.quantization is not None:
        # With this flag set, TRL casts adapters to bfloat16. A T4 lacks it and its gradient scaler needs
        # float32; anywhere else an update of less than 1/256 of a weight would round to nothing.
        model.is_loaded_in_4bit = False
    if adapter is not None:
        tokenizer = tokenizer_of(base, adapter)
        model = add_adapter(model, adapter, recipe)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def check_start(recipe: TrainingConfig, adapter: str | None) -> None:
    """Refuse settings under which the starting model would not be the judge that the recipe names.

    Args:
        recipe: the training recipe.
        adapter: the LoRA adapter that training starts from, if any.

    Raises:
        InputError: if there are such settings; says what to set instead.
    """
    identity = read_identity(recipe.model)
    rounded = rounded_base(identity)
    if recipe.quantization is not None and recipe.quantization == rounded:
        raise InputError(
            f"{recipe.model} was merged from an adapter on {rounded} weights, and rounding it to {rounded} "
            "again would take back nearly all that the adapter had learned; start from the adapter itself "
            f"(model: {identity.get('merged_from', 'its folder')}), or set quantization: null",
            field="quantization",
        )
    if adapter is None:
        return
    if recipe.lora is None:
        raise InputError(
            f"{recipe.model} is a LoRA adapter, and training all weights needs plain ones; merge it first: "
            f"judge merge {recipe.model} -o DIR",
            field="lora",
        )
    trained = trained_quantization(identity)
    if identity and trained != recipe.quantization:
        raise InputError(
            f"{recipe.model} was trained with quantization: {trained or 'null'}, and on other weights it is "
            "another judge; set that here too",
            field="quantization",
        )


def add_adapter(model: Any, adapter: str, recipe: TrainingConfig) -> Any:
    """Load a LoRA adapter onto its base, to be trained further.

    DPO's reference is then a frozen copy of the adapter, which TRL makes and which is not saved: the result
    is one adapter on the base.

    Raises:
        InputError: if it is not a LoRA adapter, or its rank or alpha differ from the recipe's.
    """
    from peft import LoraConfig, PeftConfig, PeftModel

    config = PeftConfig.from_pretrained(adapter)
    if not isinstance(config, LoraConfig):
        raise InputError(f"{adapter} is an adapter of the kind {config.peft_type}; LoRA alone is trained on")
    wanted = recipe.lora
    if wanted is None or (config.r, config.lora_alpha) != (wanted.rank, wanted.alpha):
        raise InputError(
            f"{adapter} has rank {config.r} and alpha {config.lora_alpha}, which stay as they are; set "
            f"lora: {{rank: {config.r}, alpha: {config.lora_alpha}}}",
            field="lora",
        )
    config.lora_dropout = wanted.dropout
    # In float32, like the adapters that TRL makes; ZeRO-3 needs all weights in one number format.
    widen = sharding() != "zero3"
    model = PeftModel.from_pretrained(
        model, adapter, config=config, is_trainable=True, autocast_adapter_dtype=widen
    )
    model.add_adapter = partial(
        model.add_adapter, autocast_adapter_dtype=widen
    )  # TRL makes its copy with this
    return model


def shares_prefixes(recipe: SFTRecipe | DPORecipe, model: Any) -> bool:
    """Whether rows with a common prompt train together; prints a note if the model does not support it."""
    if recipe.prefix_sharing and not can_share(model):
        print(
            f"{recipe.model} cannot share prefixes (see judge.models.prefix_tree); rows train alone",
            flush=True,
        )
        return False
    return recipe.prefix_sharing


def lora_config(recipe: TrainingConfig) -> Any:
    """PEFT's settings for a new adapter; ``None`` for full fine-tuning, or if training starts from one."""
    from peft import LoraConfig

    if recipe.lora is None or find_model(recipe.model)[1] is not None:
        return None
    return LoraConfig(
        r=recipe.lora.rank,
        lora_alpha=recipe.lora.alpha,
        lora_dropout=recipe.lora.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def leave_casts_to_autocast(trainer: Any) -> None:
    """Keep PEFT from casting inputs up for its float32 adapters when autocast casts them down again."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    if trainer.args.bf16 or trainer.args.fp16:
        for module in trainer.model.modules():
            if isinstance(module, BaseTunerLayer):
                module.cast_input_dtype_enabled = False


def data_file(recipe: RunConfig, name: str) -> Path:
    """A file of the recipe's data set.

    Raises:
        InputError: if it was not built, or is training data that did not pass the leak gate.
    """
    path = Path(recipe.data) / name
    if not path.is_file():
        raise InputError(
            f"is missing; build the data set first: judge data build CONFIG --out {recipe.data}", file=path
        )
    if name.endswith(("train.jsonl", "samples.jsonl")) and not recipe.without_leak_gate:
        check_leak_gate(path, name, Path(recipe.data))
    return path
