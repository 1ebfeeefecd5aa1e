"""Weights of 4 bits: NF4 with double quantization (QLoRA, arXiv 2305.14314), by bitsandbytes."""

import logging
from typing import TYPE_CHECKING, Any, Literal

from judge.errors import require

if TYPE_CHECKING:
    import torch

Quantization = Literal["nf4"]
"""``nf4``: the linear layers in 4 bits, except for the LM head; embeddings and norms are unchanged."""
QuantizationChoice = Literal["auto", "none", "nf4"]
"""Option of commands and calls; ``auto`` is what the judge was trained on."""

NF4_BYTES = 1 / 2 + 1 / 64 + 4 / (64 * 256)
"""Bytes per weight: four bits, a byte of scale per 64 weights, and a float32 scale per 256 of these."""

# PEFT imports bitsandbytes if it is installed, which then logs about a kernel that is not used here.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def quantized_loading(precision: str, device: str) -> dict[str, Any]:
    """Arguments of ``from_pretrained`` for weights in NF4.

    Args:
        precision: number format in which the 4-bit layers multiply.
        device: where the weights are made and stay.

    Raises:
        InputError: if bitsandbytes is not installed.
    """
    require("quantization nf4", "train", "bitsandbytes")
    from transformers import BitsAndBytesConfig

    config = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=precision,
    )
    return {"quantization_config": config, "device_map": {"": device}}


def quantized_layers(skeleton: Any) -> dict[str, bool]:
    """The weights of a model that NF4 loading quantizes, and whether each is stored transposed.

    Args:
        skeleton: the model on PyTorch's meta device; its linear layers are replaced.
    """
    from transformers.pytorch_utils import Conv1D
    from transformers.quantizers import AutoHfQuantizer

    settings = quantized_loading("float32", "cpu")
    quantizer = AutoHfQuantizer.from_config(settings["quantization_config"], pre_quantized=False)
    quantizer.preprocess_model(skeleton, device_map=settings["device_map"])
    return {
        f"{name}.weight": module.source_cls is Conv1D
        for name, module in skeleton.named_modules()
        if hasattr(module, "source_cls")  # class of the replaced layer
    }


def round_to_nf4(weight: "torch.Tensor", transposed: bool = False) -> "torch.Tensor":
    """The values that a float32 weight has in NF4, on the CPU."""
    from bitsandbytes.functional import dequantize_4bit
    from bitsandbytes.nn import Params4bit

    if transposed:
        return round_to_nf4(weight.T.contiguous()).T
    packed = Params4bit(weight, requires_grad=False, quant_type="nf4", compress_statistics=True).to("cpu")
    return dequantize_4bit(packed.data, packed.quant_state)


def keep_4_bit_layout(model: Any) -> None:
    """Keep bitsandbytes from repacking 4-bit weights on a CPU at the first evaluation.

    Repacked layers compute in bfloat16 whatever the requested format, and have no gradient: after an
    evaluation, training would learn next to nothing.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False
