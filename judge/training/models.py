"""What both trainers need: the model to train, LoRA settings, the files of a data set."""

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
    """The model and tokenizer that a recipe starts from, weights in the number format that suits the device.

    Where that is a LoRA adapter, it is put next to its base and trained on.
    Norms and the LM head of a quantized model stay in the training's own format: the models compute their
    norms in float32 whatever their weights are in, and :mod:`judge.models.heads` does so with the head.

    Raises:
        InputError: the model is unknown, or the recipe wants what it, or 4-bit weights, cannot do.
        JudgeError: the weights cannot be loaded.
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
        # TRL casts the adapters of a model that says so to bfloat16. A T4 has none, its gradient scaler wants
        # float32, and anywhere else an update of less than 1/256 of a weight would round to nothing.
        model.is_loaded_in_4bit = False
    if adapter is not None:
        tokenizer = tokenizer_of(base, adapter)
        model = add_adapter(model, adapter, recipe)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def check_start(recipe: TrainingConfig, adapter: str | None) -> None:
    """Refuse a start that would not be the judge that the recipe names.

    Args:
        recipe: what is to be trained.
        adapter: the LoRA adapter that it starts from, if it does.

    Raises:
        InputError: says what to set instead.
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
    """Put a LoRA adapter next to the weights it was trained on, to be trained on.

    DPO's reference is then a frozen copy of it that TRL makes, and never leaves the trainer: what is saved is
    one adapter on the base.

    Raises:
        InputError: it is no LoRA adapter, or of another shape than the recipe says.
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
    # In float32, as TRL has the adapters that it makes; ZeRO-3 wants all weights in one number format.
    widen = sharding() != "zero3"
    model = PeftModel.from_pretrained(
        model, adapter, config=config, is_trainable=True, autocast_adapter_dtype=widen
    )
    model.add_adapter = partial(
        model.add_adapter, autocast_adapter_dtype=widen
    )  # by which TRL makes its copy
    return model


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
    """PEFT's settings for new adapters; ``None`` for full fine-tuning, and where training starts from one."""
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
    """Keep PEFT from casting inputs up to its float32 adapters where autocast casts them down again."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    if trainer.args.bf16 or trainer.args.fp16:
        for module in trainer.model.modules():
            if isinstance(module, BaseTunerLayer):
                module.cast_input_dtype_enabled = False


def data_file(recipe: RunConfig, name: str) -> Path:
    """A file of the recipe's data set.

    Raises:
        InputError: it was not built, or holds rows to train on that did not pass the leak gate.
    """
    path = Path(recipe.data) / name
    if not path.is_file():
        raise InputError(
            f"is missing; build the data set first: judge data build CONFIG --out {recipe.data}", file=path
        )
    if name.endswith(("train.jsonl", "samples.jsonl")) and not recipe.without_leak_gate:
        check_leak_gate(path, name, Path(recipe.data))
    return path
