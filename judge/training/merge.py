"""Merges a LoRA adapter into its base: plain weights that any engine loads, and a start for DPO.

No model is loaded: the base's tensors are read, changed and written one by one, so memory holds one file of
:data:`~judge.models.checkpoint.SHARD` bytes, whatever the size of the model.

The sum is computed in float32. In 16 bits the rounding steps are as large as many of the adapter's changes,
so merged weights are written in float32 by default.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.errors import InputError
from judge.files import JUDGE_FILE, appearing, read_json, write_json, write_text
from judge.models.base import find_model, unknown_model
from judge.models.checkpoint import Checkpoint, find_checkpoint, to_format, write_checkpoint
from judge.models.identity import ENCODER, read_identity, trained_quantization
from judge.models.quantization import quantized_layers, round_to_nf4
from judge.models.trained_on import carry_trained_on
from judge.models.weights import tokenizer_of
from judge.progress import track
from judge.training.card import model_card

if TYPE_CHECKING:
    import torch

STARTS = (True, False, "gaussian", "eva", "orthogonal")
"""PEFT's ways to initialize an adapter that do not change the base's weights."""

MergedFormat = Literal["float32", "bfloat16", "float16", "base"]
"""Number formats for merged weights; ``base`` keeps the format of each tensor in the base."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge.

    ``dtype`` is the number format of the adapted weights, ``size`` the bytes of all weights. ``rounding`` is
    the rounding error of the adapted weights in that format, as a share of the adapter's change (the root
    mean squares of both): 0 in float32.
    """

    base: str
    dtype: str
    size: int
    rounding: float


def merge(adapter: str, output: Path, dtype: MergedFormat = "float32") -> Merged:
    """Write an adapter's base model with the adapter merged in, with the tensor names of the base.

    The merge is computed in float32, on the CPU. ``judge.json`` and the model card are written too.

    An adapter trained on a quantized base (QLoRA) also learned to compensate for the rounding of its weights,
    so it is merged into the dequantized weights, not into the original ones. The result is the judge that was
    trained, in plain weights.

    Args:
        adapter: folder of a LoRA adapter.
        output: folder for the merged model.
        dtype: number format of all weights.

    Raises:
        InputError: if ``adapter`` is not a LoRA adapter or is of a kind that cannot be merged tensor by
            tensor, if its base is missing, or if ``output`` is not empty.
        JudgeError: if the disk is full or cannot be written, or a weight is too large for ``dtype``; nothing
            is left in ``output`` then.
    """
    identity = read_identity(adapter)
    if identity.get("stage") == ENCODER:
        raise InputError(f"{adapter} is an encoder; there is nothing to merge")
    base, found = find_model(adapter)
    if found is None:
        raise InputError(
            f"{adapter} is not a LoRA adapter (no adapter_config.json); there is nothing to merge"
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("exists and is not empty; give another folder", file=output)
    quantization = trained_quantization(identity)
    try:
        source, settings = find_checkpoint(base)
        tokenizer = tokenizer_of(base, found)
        skeleton = _skeleton(base)
    except OSError as error:
        raise unknown_model(adapter, base, found, error) from error
    names = _model_names(skeleton, source)
    rounded = quantized_layers(_skeleton(base)) if quantization else {}
    layers = adapted_layers(Path(found), skeleton)
    if missing := sorted(set(layers) - set(names.values())):
        raise InputError(f"{adapter} adapts {missing[0]}, which {base} does not hold as a tensor of its own")
    moved = lost = 0.0
    formats = set[str]()

    def tensors() -> "Iterator[tuple[str, torch.Tensor]]":
        nonlocal moved, lost
        for key in track(source.shapes, f"merge {adapter}", len(source.shapes)):
            weight, name = source.read(key), names.get(key, "")
            keeps = dtype == "base" or not weight.is_floating_point()
            wanted = str(weight.dtype).removeprefix("torch.") if keeps else dtype
            if name in rounded:
                weight = round_to_nf4(weight.float(), rounded[name])
            if name in layers:
                update = layers[name].get_delta_weight("default").detach()
                moved += _squares(update)
                weight = update.add_(weight)
            written = to_format(weight, wanted, key)
            if name in layers:
                lost += _squares(weight - written)
                formats.add(wanted)
            yield key, written

    with appearing(output) as folder:
        for file in settings:
            shutil.copyfile(file, folder / file.name)
        if dtype != "base":
            _tell_format(folder, dtype)
        size = write_checkpoint(tensors(), folder)
        result = Merged(base, " and ".join(sorted(formats)), size, (lost / moved) ** 0.5 if moved else 0.0)
        tokenizer.save_pretrained(folder)
        if identity:
            identity |= {"merged_from": adapter, "merged_dtype": result.dtype}
            write_json(folder / JUDGE_FILE, identity)
            carry_trained_on(adapter, folder)
            write_text(folder / "README.md", model_card(identity))
    return result


def _squares(values: "torch.Tensor") -> float:
    """The sum of the squares of some numbers."""
    import torch

    return float(torch.linalg.vector_norm(values)) ** 2


def _tell_format(folder: Path, dtype: str) -> None:
    """Write the number format of the weights to ``config.json``."""
    from transformers.utils import CONFIG_NAME

    config = read_json(folder / CONFIG_NAME)
    for part in (config, *(value for value in config.values() if isinstance(value, dict))):
        key = "torch_dtype" if "torch_dtype" in part else "dtype"  # its name before transformers 5
        if part is config or key in part:
            part[key] = dtype
    write_json(folder / CONFIG_NAME, config)


def adapted_layers(adapter: Path, skeleton: Any) -> dict[str, Any]:
    """PEFT's layers of an adapter, by the names of the weights that they change.

    Args:
        adapter: its folder.
        skeleton: the base model without weight values; PEFT inserts its layers into it.

    Raises:
        InputError: if it holds anything but the two factors of linear layers, such as DoRA's magnitudes or
            fully trained layers.
    """
    from peft import LoraConfig, PeftConfig, get_peft_model
    from peft.tuners.lora import Linear, LoraLayer
    from safetensors.torch import load_file

    file = adapter / "adapter_model.safetensors"
    if not file.is_file():
        raise InputError("is missing; expected an adapter's weights as safetensors", file=file)
    config = PeftConfig.from_pretrained(adapter)
    if not isinstance(config, LoraConfig):
        raise InputError(f"is of the kind {config.peft_type}; LoRA adapters can be merged", file=adapter)
    if config.init_lora_weights not in STARTS:
        raise InputError(
            f"began as {config.init_lora_weights!r}, which changes the base too; merge it with PEFT",
            file=adapter,
        )
    config.base_model_name_or_path = None  # else PEFT would warn that the base's path differs
    names = {id(module): name for name, module in skeleton.named_modules()}
    model = get_peft_model(skeleton, config)
    layers = {}
    for path, module in model.named_modules():
        if isinstance(module, LoraLayer):
            replicated = id(module.base_layer) not in names
            if replicated or not isinstance(module, Linear) or module.lora_variant:
                raise InputError(f"is a variant of LoRA at {path}; merge it with PEFT", file=adapter)
            layers[f"{names[id(module.base_layer)]}.weight"] = module
    stored = {
        re.sub(r"\.weight$", ".default.weight", name): value.float()
        for name, value in load_file(file).items()
    }
    # PEFT's own loading would put them on the device of the base, which is meta.
    outcome = model.load_state_dict(stored, strict=False, assign=True)
    missing = [name for name in outcome.missing_keys if ".lora_" in name]
    if strange := sorted([*outcome.unexpected_keys, *missing]):
        raise InputError(
            f"{'lacks' if strange[0] in missing else 'holds'} {strange[0].replace('default.', '')}; only the "
            "two factors of linear layers (lora_A, lora_B) can be merged",
            file=adapter,
        )
    return layers


def _skeleton(base: str) -> Any:
    """The model's modules without weight values."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(base, trust_remote_code=False)
    if getattr(config, "quantization_config", None) is not None:
        raise InputError(f"the weights of {base} are stored quantized; name a base with plain ones")
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, trust_remote_code=False)


def _model_names(skeleton: Any, source: Checkpoint) -> dict[str, str]:
    """The model's weight name for each stored tensor.

    transformers renames some tensors when it loads them. Weights that it builds from several stored tensors
    are left out, and so are tied weights, such as the head of many small models.
    """
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import WeightConverter, rename_source_key

    changes = get_model_conversion_mapping(skeleton)
    renamings = [change for change in changes if not isinstance(change, WeightConverter)]
    makings = [change for change in changes if isinstance(change, WeightConverter)]
    wanted = skeleton.state_dict()
    names = {}
    for key in source.shapes:
        name, made = rename_source_key(key, renamings, makings, skeleton.base_model_prefix, wanted)
        if made is None and name not in skeleton.all_tied_weights_keys:
            names[key] = name
    return names
