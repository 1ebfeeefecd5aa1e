"""The sizes of a decoder, from its ``config.json``.

The sizes of common starting models are listed here, so that planning needs no network.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import read_json
from judge.models.base import find_model
from judge.models.hub import hub_answers

EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
_FIELDS = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "intermediate_size",
    "vocab_size",
    "tie_word_embeddings",
)
_SIZES: Mapping[str, tuple[int, int, int, int, int, int, bool]] = {
    "HuggingFaceTB/SmolLM2-135M": (576, 30, 9, 3, 1536, 49152, True),
    "HuggingFaceTB/SmolLM2-360M": (960, 32, 15, 5, 2560, 49152, True),
    "HuggingFaceTB/SmolLM2-1.7B": (2048, 24, 32, 32, 8192, 49152, True),
    "Qwen/Qwen2.5-0.5B": (896, 24, 14, 2, 4864, 151936, True),
    "Qwen/Qwen2.5-1.5B": (1536, 28, 12, 2, 8960, 151936, True),
    "Qwen/Qwen2.5-3B": (2048, 36, 16, 2, 11008, 151936, True),
    "Qwen/Qwen2.5-7B": (3584, 28, 28, 4, 18944, 152064, False),
    "Qwen/Qwen2.5-14B": (5120, 48, 40, 8, 13824, 152064, False),
    "meta-llama/Meta-Llama-3-8B": (4096, 32, 32, 8, 14336, 128256, False),
    "meta-llama/Meta-Llama-3-70B": (8192, 80, 64, 8, 28672, 128256, False),
}
"""The values of :data:`_FIELDS` for each model, from its ``config.json``."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes of a decoder, under the names of its ``config.json``."""

    name: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    tie_word_embeddings: bool

    @property
    def attention_width(self) -> int:
        """Width of the queries, all heads together."""
        return self.num_attention_heads * self.head_dim

    @property
    def linear_shapes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of a layer's linear maps: queries, keys, values, output; gate, up, down."""
        hidden, wide = self.hidden_size, self.intermediate_size
        queries, keys = self.attention_width, self.num_key_value_heads * self.head_dim
        attention = [(hidden, queries), (hidden, keys), (hidden, keys), (queries, hidden)]
        return [*attention, (hidden, wide), (hidden, wide), (wide, hidden)]

    @property
    def linear_parameters(self) -> int:
        """Parameters of all layers' linear maps, the ones that are quantized."""
        return self.num_hidden_layers * sum(inputs * outputs for inputs, outputs in self.linear_shapes)

    @property
    def other_parameters(self) -> int:
        """Parameters of the embeddings, the LM head and the norms."""
        tables = 1 if self.tie_word_embeddings else 2
        return self.hidden_size * (tables * self.vocab_size + 2 * self.num_hidden_layers + 1)

    def adapter_parameters(self, rank: int) -> int:
        """Parameters of LoRA adapters on every linear map of the layers."""
        return self.num_hidden_layers * rank * sum(inputs + outputs for inputs, outputs in self.linear_shapes)


def read_architecture(model: str, file: Path | None = None) -> Architecture:
    """The sizes of a model, from its ``config.json``, or by its name if it is a known one.

    Args:
        model: a local folder, or a Hub id.
        file: a ``config.json`` to read instead.

    Raises:
        InputError: if there is no such model, or its config lacks a size or is of another kind of model.
    """
    if file is None:
        base = model if known_config(model) is not None else find_model(model)[0]
        file = Path(base) / "config.json"
        if not file.is_file():
            if (known := known_config(base)) is not None:
                return parse_architecture(model, known, file)
            file = _from_hub(base)
    return parse_architecture(model, read_json(file), file)


def known_config(model: str) -> dict[str, int | bool] | None:
    """The sizes of a known model on the Hub under the names of its ``config.json``; ``None`` for others.

    An instruction-tuned model (``...-Instruct``) has the sizes of its base.
    """
    sizes = _SIZES.get(model.removesuffix("-Instruct"))
    return None if sizes is None else dict(zip(_FIELDS, sizes, strict=True))


def parse_architecture(name: str, values: Mapping[str, Any], file: Path) -> Architecture:
    """The sizes in a ``config.json``. Raises ``InputError`` for a wrong or missing field."""
    values = values.get("text_config", values)
    for field in EXPERTS:
        if values.get(field):
            raise InputError("a mixture of experts cannot be estimated", file=file, field=field)

    def size(field: str, default: int | None = None) -> int:
        value = default if values.get(field) is None else values[field]
        if value is None:
            raise InputError("is missing; the config.json of a decoder has it", file=file, field=field)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"holds {value!r:.60}, expected a positive whole number", file=file, field=field)
        return value

    hidden, heads = size("hidden_size"), size("num_attention_heads")
    return Architecture(
        name=name,
        hidden_size=hidden,
        num_hidden_layers=size("num_hidden_layers"),
        num_attention_heads=heads,
        num_key_value_heads=size("num_key_value_heads", heads),
        head_dim=size("head_dim", hidden // heads),
        intermediate_size=size("intermediate_size"),
        vocab_size=size("vocab_size"),
        tie_word_embeddings=bool(values.get("tie_word_embeddings", True)),
    )


def _from_hub(name: str) -> Path:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    why = "it cannot be reached, or has no such model"
    try:
        if isinstance(kept := try_to_load_from_cache(name, "config.json"), str):
            return Path(kept)
        if hub_answers(name):
            return Path(hf_hub_download(name, "config.json"))
    except (OSError, ValueError) as error:
        why = f"{str(error).splitlines()[0]:.120}"
    raise InputError(
        f"unknown model {name!r}: no folder of that name here, and the Hub gave no config.json ({why}); "
        "name a local one with --config"
    )
