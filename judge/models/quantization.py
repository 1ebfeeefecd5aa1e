"""Weights of 4 bits: NF4 with double quantization (QLoRA, arXiv 2305.14314), by bitsandbytes."""

import logging
from importlib.util import find_spec
from typing import Any, Literal

from judge.errors import InputError

Quantization = Literal["nf4"]
"""``nf4``: the linear layers in 4 bits, but for the LM head; embeddings and norms stay as they are."""
QuantizationChoice = Literal["auto", "none", "nf4"]
"""As a command or a call names it; ``auto`` is what the judge was trained on."""

# PEFT imports bitsandbytes wherever it is installed, which then tells of a kernel that nothing here uses.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def require_bitsandbytes(what: str) -> None:
    """Raise ``InputError`` where bitsandbytes is not installed; ``what`` is the setting that needs it."""
    if find_spec("bitsandbytes") is None:
        raise InputError(f"{what} needs bitsandbytes; install it: pip install bitsandbytes")


def quantized_loading(precision: str, device: str) -> dict[str, Any]:
    """Arguments of ``from_pretrained`` for weights in NF4.

    Args:
        precision: number format in which the 4-bit layers multiply.
        device: where the weights are made and stay.

    Raises:
        InputError: bitsandbytes is not installed.
    """
    require_bitsandbytes("quantization nf4")
    from transformers import BitsAndBytesConfig

    config = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=precision,
    )
    return {"quantization_config": config, "device_map": {"": device}}


def keep_4_bit_layout(model: Any) -> None:
    """Keep bitsandbytes from repacking 4-bit weights on a CPU at the first evaluation.

    Its repacked layers compute in bfloat16 whatever was asked for, and have no gradient: after an evaluation,
    training would go on and learn next to nothing.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def parameter_count(model: Any) -> int:
    """Parameters of a model, whatever the bytes that they are packed in."""
    total = 0
    for weight in model.parameters():
        state = getattr(weight, "quant_state", None)
        total += (weight if state is None else state).shape.numel()
    return total
