"""Merging a LoRA adapter into its base: plain weights that any engine loads, and the start of DPO."""

import json
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError
from judge.files import write_json, write_text
from judge.loading import find_model, load_model
from judge.training.card import model_card


def merge(adapter: str, output: Path) -> dict[str, Any]:
    """Write an adapter's base model with the adapter merged in, as safetensors in the base's number format.

    The merge is computed in float32. ``judge.json`` and the model card move along.

    Raises:
        InputError: ``adapter`` is no LoRA adapter, or ``output`` holds something already.
        JudgeError: the disk is full or cannot be written.
    """
    import torch

    base, found = find_model(adapter)
    if found is None:
        raise InputError(f"{adapter} is no LoRA adapter (no adapter_config.json); there is nothing to merge")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("exists and is not empty; give another folder", file=output)
    loaded = load_model(adapter, precision="float32")
    merged = loaded.model.merge_and_unload()
    stored = json.loads((Path(base) / "config.json").read_text()) if Path(base).is_dir() else {}
    dtype = stored.get("dtype") or stored.get("torch_dtype")
    if isinstance(dtype, str):
        merged = merged.to(getattr(torch, dtype))
    try:
        merged.save_pretrained(output, safe_serialization=True)
        loaded.tokenizer.save_pretrained(output)
    except OSError as error:
        raise JudgeError(f"{output}: could not be written ({error.strerror})") from error
    identity_file = Path(adapter) / "judge.json"
    if identity_file.is_file():
        identity = {**json.loads(identity_file.read_text(encoding="utf-8")), "merged_from": adapter}
        write_json(output / "judge.json", identity)
        write_text(output / "README.md", model_card(identity))
    return {"base": base, "adapter": adapter, "dtype": str(merged.dtype).removeprefix("torch.")}
