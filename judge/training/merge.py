"""Merging a LoRA adapter into its base: plain weights that any engine loads, and the start of DPO."""

import json
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError
from judge.files import write_json, write_text
from judge.models.weights import find_model, load_weights
from judge.training.card import model_card


def merge(adapter: str, output: Path) -> dict[str, Any]:
    """Write an adapter's base model with the adapter merged in, as safetensors in the base's number format.

    The merge is computed in float32, on the CPU. ``judge.json`` and the model card move along.

    An adapter that was trained on a quantized base (QLoRA) learned to make up for the rounding of its weights
    too, so it is merged into the dequantized weights, not into those that the base had before. Merged, it is
    the judge that was trained, in plain weights.

    Raises:
        InputError: ``adapter`` is no LoRA adapter, or ``output`` holds something already.
        JudgeError: the disk is full or cannot be written.
    """
    import torch
    from transformers import AutoConfig

    base, found = find_model(adapter)
    if found is None:
        raise InputError(f"{adapter} is no LoRA adapter (no adapter_config.json); there is nothing to merge")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("exists and is not empty; give another folder", file=output)
    identity_file = Path(adapter) / "judge.json"
    identity = json.loads(identity_file.read_text(encoding="utf-8")) if identity_file.is_file() else None
    quantization = identity["recipe"].get("quantization") if identity else None
    model, tokenizer = load_weights(adapter, precision="float32", quantization=quantization, dequantize=True)
    merged = model.merge_and_unload()
    stored = AutoConfig.from_pretrained(base).dtype
    merged = merged.to(stored if isinstance(stored, torch.dtype) else torch.float32)
    try:
        merged.save_pretrained(output, safe_serialization=True)
        tokenizer.save_pretrained(output)
    except OSError as error:
        raise JudgeError(f"{output}: could not be written ({error.strerror})") from error
    if identity is not None:
        identity = {**identity, "merged_from": adapter}
        write_json(output / "judge.json", identity)
        write_text(output / "README.md", model_card(identity))
    return {"base": base, "adapter": adapter, "dtype": str(merged.dtype).removeprefix("torch.")}
