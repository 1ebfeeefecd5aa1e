"""The sizes of a decoder, from its ``config.json`` alone."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import open_text
from judge.models.base import find_model
from judge.models.hub import hub_answers
from judge.models.known import known_config

EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")


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
        hidden, wide, keys = (
            self.hidden_size,
            self.intermediate_size,
            self.num_key_value_heads * self.head_dim,
        )
        attention = [
            (hidden, self.attention_width),
            (hidden, keys),
            (hidden, keys),
            (self.attention_width, hidden),
        ]
        return [*attention, (hidden, wide), (hidden, wide), (wide, hidden)]

    @property
    def linear_parameters(self) -> int:
        """Parameters of all layers' linear maps, which is what is quantized."""
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
    """The sizes of a model, from its ``config.json``, or by its name where it is well known.

    Args:
        model: a local folder, or a Hub id.
        file: a ``config.json`` to read instead.

    Raises:
        InputError: there is no such model, or its config lacks a size or is of another kind of model.
    """
    if file is None:
        base = model if known_config(model) is not None else find_model(model)[0]
        file = Path(base) / "config.json"
        if not file.is_file():
            if (known := known_config(base)) is not None:
                return parse_architecture(model, known, file)
            file = _from_hub(base)
    with open_text(file) as stream:
        try:
            values = json.load(stream)
        except json.JSONDecodeError as error:
            raise InputError(f"is not valid JSON ({error.msg})", file=file, line=error.lineno) from None
    return parse_architecture(model, values, file)


def parse_architecture(name: str, values: Any, file: Path) -> Architecture:
    """Check the content of a ``config.json``. Raises ``InputError`` naming the field at fault."""
    if not isinstance(values, Mapping):
        raise InputError("holds no JSON object", file=file)
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
