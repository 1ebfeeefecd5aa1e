"""Loading a causal language model: from a local folder, a LoRA adapter on its base, or the Hub."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judge.errors import InputError, JudgeError, unknown

Precision = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer and what a report must know of them."""

    model: Any
    tokenizer: Any
    name: str
    revision: str | None
    context_length: int

    @property
    def pad_id(self) -> int:
        """Token id for padding; padded positions are masked, so any id serves."""
        pad = self.tokenizer.pad_token_id
        return int(pad if pad is not None else self.tokenizer.eos_token_id or 0)

    def describe(self) -> dict[str, Any]:
        """Name, revision, size, number format and device."""
        return {
            "model": self.name,
            "revision": self.revision,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": str(self.model.device),
        }


def default_precision() -> str:
    """The number format of this device: bfloat16 where a GPU has it, float16 on older ones, float32 on CPU."""
    import torch

    if not torch.cuda.is_available():
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"


def find_model(name: str) -> tuple[str, str | None]:
    """Tell a model's base weights from its adapter.

    Returns:
        Name of the base model, and the folder or Hub id of the LoRA adapter, if ``name`` is one.

    Raises:
        InputError: ``name`` looks like a path and is no model folder.
    """
    folder = Path(name)
    if (folder / "adapter_config.json").is_file():
        base = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8")).get(
            "base_model_name_or_path"
        )
        if not base:
            raise InputError(
                "names no base model (base_model_name_or_path)", file=folder / "adapter_config.json"
            )
        return base, name
    if (folder / "config.json").is_file():
        return name, None
    if folder.is_dir():
        raise InputError(
            "holds neither config.json nor adapter_config.json; it is no model folder", file=folder
        )
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or not name.strip():
        siblings = folder.parent.iterdir() if folder.parent.is_dir() else ()
        models = [str(path) for path in siblings if path.is_dir()]
        raise InputError(unknown("model", name, models))
    return name, None


def load_tokenizer(name: str, revision: str | None = None) -> Any:
    """The tokenizer of a model folder or Hub id."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name, revision=revision)


def load_model(name: str, *, revision: str | None = None, precision: Precision = "auto") -> LoadedModel:
    """Load a model for judging or as the start of training.

    Args:
        name: a local folder (full weights or a LoRA adapter) or a Hub id.
        revision: Hub revision; the default branch by default.
        precision: number format of the weights; by capability of the device by default.

    Raises:
        InputError: there is no such model here, and the Hub has none of that name or cannot be reached.
        JudgeError: the weights cannot be loaded.
    """
    import torch
    from transformers import AutoModelForCausalLM

    base, adapter = find_model(name)
    dtype = getattr(torch, default_precision() if precision == "auto" else precision)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        tokenizer = load_tokenizer(adapter or base, revision if adapter is None else None)
        model = AutoModelForCausalLM.from_pretrained(
            base, revision=revision, dtype=dtype, use_safetensors=True, trust_remote_code=False
        )
        if adapter is not None:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, adapter)
    except OSError as error:  # what the Hub client raises for an unknown name or without a network
        raise InputError(
            f"unknown model {name!r}: no folder of that name here, and the Hub gave none "
            f"({str(error).splitlines()[0]:.160})"
        ) from error
    except (ValueError, RuntimeError, KeyError) as error:
        raise JudgeError(f"{name}: the weights could not be loaded ({error})") from error
    config = model.config.get_text_config()
    return LoadedModel(
        model=model.to(device),
        tokenizer=tokenizer,
        name=name,
        revision=getattr(model.config, "_commit_hash", None) or revision,
        context_length=int(getattr(config, "max_position_embeddings", 0) or 2048),
    )
