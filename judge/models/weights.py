"""Loads a causal language model: from a local folder, a LoRA adapter on its base, or the Hub."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judge.errors import JudgeError, counted
from judge.models import attention, hardware
from judge.models.base import find_model, unknown_model
from judge.models.quantization import Quantization, keep_4_bit_layout, quantized_loading
from judge.progress import stage

Precision = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer, and the facts about them for reports."""

    model: Any
    tokenizer: Any
    name: str
    revision: str | None
    context_length: int
    quantization: Quantization | None = None

    @property
    def pad_id(self) -> int:
        """Token id for padding; padded positions are masked, so any id will do."""
        pad = self.tokenizer.pad_token_id
        return int(pad if pad is not None else self.tokenizer.eos_token_id or 0)

    def describe(self) -> dict[str, Any]:
        """Name, revision, size, number format and device."""
        quantized = {"quantization": self.quantization} if self.quantization else {}
        return {
            "model": self.name,
            "revision": self.revision,
            "parameters": self.model.num_parameters(),
            "dtype": str(self.model.dtype).removeprefix("torch."),
            **quantized,
            "device": str(self.model.device),
        }


def load_tokenizer(name: str, revision: str | None = None) -> Any:
    """The tokenizer of a model folder or Hub id."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name, revision=revision)


def tokenizer_of(base: str, adapter: str | None, revision: str | None = None) -> Any:
    """The tokenizer of an adapter if it has one, else that of its base (see :func:`find_model`)."""
    if adapter is not None and (Path(adapter) / "tokenizer_config.json").is_file():
        return load_tokenizer(adapter)
    return load_tokenizer(base, revision)


def load_weights(
    name: str,
    *,
    precision: str,
    revision: str | None = None,
    quantization: Quantization | None = None,
    dequantize: bool = False,
    device: str = "cpu",
) -> tuple[Any, Any]:
    """Load a model with its tokenizer; an adapter is put on its base.

    Args:
        name: a local folder (full weights or a LoRA adapter) or a Hub id.
        precision: number format of the weights: float32, bfloat16 or float16; for quantized ones that of
            their products, and of everything that is not quantized (embeddings, norms, LM head).
        revision: Hub revision; the default branch by default.
        quantization: quantize the linear layers of the base model.
        dequantize: convert quantized weights back to plain ones, with their 4-bit values.
        device: where quantized weights are made and stay. Others are left on the CPU for the caller to move.

    Raises:
        InputError: if there is no such model here, and the Hub has none of that name or cannot be reached, or
            if the library for the requested quantization is not installed.
        JudgeError: if the weights cannot be loaded.
    """
    base, adapter = find_model(name)  # reports a wrong path before anything large is imported
    import torch

    if not torch.cuda.is_available():  # DeepSpeed would print a message among our results
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    settings = {} if quantization is None else quantized_loading(precision, device)
    try:
        with stage(f"load {name}"):
            tokenizer = tokenizer_of(base, adapter, revision)
            model, loading_info = AutoModelForCausalLM.from_pretrained(
                # PEFT keeps this name in adapters.
                str(Path(base).absolute()) if Path(base).is_dir() else base,
                revision=revision,
                dtype=getattr(torch, precision),
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
                **settings,
            )
            refuse_missing(name, loading_info)
            keep_4_bit_layout(model)
            if quantization is not None and dequantize:
                model = model.dequantize()
            if model.config._attn_implementation == "sdpa" and not torch.cuda.is_available():
                model.set_attn_implementation(attention.register())
            if adapter is not None:
                from peft import PeftModel

                # Keep its weights in the model's own number format: casts would halve the speed.
                model = PeftModel.from_pretrained(model, adapter, autocast_adapter_dtype=False)
    except OSError as error:  # from the Hub client, for an unknown name or without a network
        raise unknown_model(name, base, adapter, error) from error
    except (ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise JudgeError(f"{name}: the weights could not be loaded ({error})") from error
    return model, tokenizer


def refuse_missing(name: str, loading_info: Mapping[str, Any]) -> None:
    """Raise ``JudgeError`` if transformers filled weights of a model with random numbers."""
    missing = [
        *map(str, loading_info["missing_keys"]),
        *(str(one[0]) for one in loading_info["mismatched_keys"]),
    ]
    if missing:
        more = ", ..." if len(missing) > 3 else ""
        raise JudgeError(
            f"{name}: {counted(len(missing), 'weight')} not in the checkpoint "
            f"({', '.join(sorted(missing)[:3])}{more}), so its verdicts would be random"
        )


def load_model(
    name: str,
    *,
    revision: str | None = None,
    precision: Precision = "auto",
    quantization: Quantization | None = None,
) -> LoadedModel:
    """Load a model for judging, onto the GPU if there is one.

    A LoRA adapter is merged into the weights unless these are in 4 bits: unmerged it would take as much time
    as the layers.

    Args and errors as for :func:`load_weights`; ``auto`` picks the number format that suits the device.
    Weights that are too large for the device are refused before they are read (:mod:`judge.models.room`).
    """
    _, adapter = find_model(name)  # reports a wrong path before anything large is imported
    import torch

    from judge.models.room import check_room

    wanted = hardware.this_device().precision() if precision == "auto" else precision
    check_room(name, wanted, quantization)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load_weights(
        name, precision=wanted, revision=revision, quantization=quantization, device=device
    )
    if adapter is not None and not getattr(model, "is_quantized", False):
        model = model.merge_and_unload()
    config = model.config.get_text_config()
    return LoadedModel(
        model=model if quantization is not None else model.to(device),
        tokenizer=tokenizer,
        name=name,
        revision=getattr(model.config, "_commit_hash", None) or revision,
        context_length=int(getattr(config, "max_position_embeddings", 0) or 2048),
        quantization=quantization,
    )
