"""Llama, Qwen2 and Qwen3 written out: what one verdict on a CPU needs of them, without transformers.

``judge check`` is a process of one verdict, and to import transformers takes longer than the verdict. The
layers are transformers' by name, order and rounding. What is not read here (another architecture, scaled
positions, a tokenizer of another kind, weights on the Hub) goes the usual way.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu

from judge.models.attention import NAME, BlockPlans
from judge.models.blocked_attention import attend

KINDS = ("llama", "qwen2", "qwen3")
FIXED: Mapping[str, tuple[Any, ...]] = {
    "hidden_act": ("silu",), "attention_bias": (None, False), "mlp_bias": (None, False),
    "use_sliding_window": (None, False), "sliding_window": (None,), "quantization_config": (None,),
    "pretraining_tp": (None, 1),
}  # fmt: skip
"""Of ``config.json``: what the layers here can be."""
SIZES = {
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "rms_norm_eps",
}  # fmt: skip
"""What a config has to say; where it leaves it to transformers, that reads it."""
PLAIN_ROPE = ("default", None)
ODD = (
    "use_dora", "use_rslora", "use_qalora", "fan_in_fan_out", "modules_to_save", "rank_pattern",
    "alpha_pattern", "alora_invocation_tokens", "arrow_config", "lora_bias",
)  # fmt: skip
"""Of ``adapter_config.json``: what makes an adapter more than a product that is added."""


def plain_config(config: Mapping[str, Any]) -> SimpleNamespace | None:
    """The settings of a decoder by transformers' names; ``None`` if it is not one of those here."""
    values = dict(config)
    if values.get("use_sliding_window") is False:
        values["sliding_window"] = None
    scaled = values.get("rope_scaling") or {}
    rope = values.get("rope_parameters") or {"rope_theta": values.get("rope_theta", 10_000.0), **scaled}
    fixed = all(values.get(name) in wanted for name, wanted in FIXED.items())
    whole = set(values.get("layer_types") or ["full_attention"]) == {"full_attention"}
    rotary = rope.get("rope_type", rope.get("type")) in PLAIN_ROPE and "rope_theta" in rope
    turned = rope.get("partial_rotary_factor", values.get("partial_rotary_factor")) in (None, 1.0)
    if (
        values.get("model_type") not in KINDS
        or not values.keys() >= SIZES
        or not (fixed and whole and rotary and turned)
    ):
        return None
    heads = values["num_attention_heads"]
    values.setdefault("num_key_value_heads", heads)
    values["head_dim"] = values.get("head_dim") or values["hidden_size"] // heads
    values |= {"rope_parameters": rope, "_attn_implementation": NAME, "layer_types": None}
    values["tie_word_embeddings"] = bool(values.get("tie_word_embeddings"))
    found = SimpleNamespace(**values)
    found.get_text_config = lambda: found
    found.to_dict = lambda: dict(values)
    return found


class Linear(nn.Linear):
    """Its weights are read: to draw them first would import PyTorch's compiler, which takes 0.7 s."""

    def reset_parameters(self) -> None:
        """Nothing."""


class Embedding(nn.Embedding):
    """As :class:`Linear`."""

    def reset_parameters(self) -> None:
        """Nothing."""


class Norm(nn.Module):
    """Root mean square norm, computed in float32."""

    def __init__(self, size: int, epsilon: float):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.epsilon = epsilon

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        wide = hidden.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.epsilon)
        return self.weight * wide.to(hidden.dtype)


class Attention(nn.Module):
    """Heads that turn with their places; several share keys and values."""

    def __init__(self, config: SimpleNamespace):
        super().__init__()
        size, self.head = config.hidden_size, config.head_dim
        wide, narrow = config.num_attention_heads * self.head, config.num_key_value_heads * self.head
        bias = config.model_type == "qwen2"
        self.q_proj = Linear(size, wide, bias)
        self.k_proj, self.v_proj = Linear(size, narrow, bias), Linear(size, narrow, bias)
        self.o_proj = Linear(wide, size, False)
        self.shared = config.num_attention_heads // config.num_key_value_heads
        if config.model_type == "qwen3":
            self.q_norm = Norm(self.head, config.rms_norm_eps)
            self.k_norm = Norm(self.head, config.rms_norm_eps)

    def forward(
        self, hidden: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], mask: Any, plans: BlockPlans
    ) -> torch.Tensor:
        """``(rows, tokens, size)``; ``mask`` as of :func:`judge.models.attention.tree_attention`."""
        query, key, value = (
            part(hidden).unflatten(-1, (-1, self.head)) for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        if hasattr(self, "q_norm"):
            query, key = self.q_norm(query), self.k_norm(key)
        query, key, value = (part.transpose(1, 2) for part in (query, key, value))
        query, key = _turned(query, *turn), _turned(key, *turn)
        blocks = plans.blocks(query, key, mask, causal=True)
        if blocks is not None:
            seen = attend(query, key, value, blocks, self.head**-0.5)
        else:
            key, value = (part.repeat_interleave(self.shared, 1) for part in (key, value))
            causal = mask is None and query.shape[2] > 1
            seen = scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
        found: torch.Tensor = self.o_proj(seen.transpose(1, 2).flatten(2))
        return found


class Feed(nn.Module):
    """The layer's two gated products."""

    def __init__(self, config: SimpleNamespace):
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.gate_proj, self.up_proj = Linear(size, wide, False), Linear(size, wide, False)
        self.down_proj = Linear(wide, size, False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        found: torch.Tensor = self.down_proj(silu(self.gate_proj(hidden)) * self.up_proj(hidden))
        return found


class Layer(nn.Module):
    """One layer."""

    def __init__(self, config: SimpleNamespace):
        super().__init__()
        self.self_attn, self.mlp = Attention(config), Feed(config)
        self.input_layernorm = Norm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = Norm(config.hidden_size, config.rms_norm_eps)

    def forward(self, hidden: torch.Tensor, *seeing: Any) -> torch.Tensor:
        """``(rows, tokens, size)``; the rest as of :class:`Attention`."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), *seeing)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class PlainDecoder(nn.Module):
    """A decoder that reads; :class:`judge.backends.transformers.TransformersBackend` runs it as any other."""

    def __init__(self, config: SimpleNamespace):
        super().__init__()
        self.config = config
        self.model = nn.ModuleDict(
            {
                "embed_tokens": Embedding(config.vocab_size, config.hidden_size),
                "layers": nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers)),
                "norm": Norm(config.hidden_size, config.rms_norm_eps),
            }
        )
        self.lm_head = Linear(config.hidden_size, config.vocab_size, bias=False)
        self._plans = BlockPlans()

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the weights."""
        return self.lm_head.weight.dtype

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.lm_head.weight.device

    def get_output_embeddings(self) -> nn.Linear:
        """The head."""
        return self.lm_head

    def forward(
        self,
        input_ids: torch.Tensor,
        logits_to_keep: torch.Tensor,
        position_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        use_cache: bool = False,
    ) -> SimpleNamespace:
        """``logits`` at the columns that are kept. ``use_cache`` is there for transformers' callers."""
        hidden = self.model["embed_tokens"](input_ids)
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1])[None]
        rope = self.config.rope_parameters
        steps = torch.arange(0, self.config.head_dim, 2, dtype=torch.float32) / self.config.head_dim
        angles = position_ids[..., None].float() / rope["rope_theta"] ** steps
        angles = torch.cat((angles, angles), -1)[:, None]
        turn = (angles.cos().to(hidden.dtype), angles.sin().to(hidden.dtype))
        for layer in self.model["layers"]:
            hidden = layer(hidden, turn, attention_mask, self._plans)
        return SimpleNamespace(logits=self.lm_head(self.model["norm"](hidden)[:, logits_to_keep]))


def _turned(heads: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = heads.chunk(2, -1)
    return heads * cosine + torch.cat((-second, first), -1) * sine


def read_plain(folder: Path, adapter: Path | None, precision: str) -> PlainDecoder | None:
    """A decoder from a model folder, with a LoRA adapter added to its weights.

    Returns:
        ``None`` where transformers has to read it.

    Raises:
        JudgeError: a file is damaged.
    """
    from judge.models.checkpoint import Checkpoint

    files = sorted(folder.glob("model*.safetensors"))
    config = plain_config(_json(folder / "config.json"))
    if config is None or not files:
        return None
    stored = Checkpoint(files)
    dtype = getattr(torch, precision)
    with torch.device("meta"):
        model = PlainDecoder(config)
    tied = config.tie_word_embeddings and "lm_head.weight" not in stored.tensors
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    if tied:
        del wanted["lm_head.weight"]
    if wanted != {name: stored.tensors[name].shape for name in wanted if name in stored.tensors}:
        return None
    weights = {name: stored.read(name).to(dtype) for name in wanted}
    if adapter is not None and not _add(adapter, weights):
        return None
    if tied:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights, assign=True)
    if tied:
        model.lm_head.weight = model.model["embed_tokens"].weight
    return model.requires_grad_(False)


def more_than_a_product(settings: Mapping[str, Any]) -> str | None:
    """What in an ``adapter_config.json`` makes an adapter more than products that are added, if anything."""
    if settings.get("peft_type") != "LORA":
        return f"peft_type {settings.get('peft_type')}"
    if settings.get("bias", "none") != "none":
        return f"bias {settings['bias']}"
    return next((name for name in ODD if settings.get(name)), None)


def _add(adapter: Path, weights: dict[str, torch.Tensor]) -> bool:
    """Add an adapter to weights, as PEFT does; ``False`` for one of another build, and nothing is added."""
    from judge.models.checkpoint import Checkpoint

    settings = _json(adapter / "adapter_config.json")
    if more_than_a_product(settings) or not (adapter / "adapter_model.safetensors").is_file():
        return False
    factors = Checkpoint([adapter / "adapter_model.safetensors"])
    scale = settings["lora_alpha"] / settings["r"]
    first, second = ".lora_A.weight", ".lora_B.weight"
    targets = [name.removesuffix(first) for name in factors.tensors if name.endswith(first)]
    named = {target: f"{target.removeprefix('base_model.model.')}.weight" for target in targets}
    if 2 * len(targets) != len(factors.tensors) or not set(named.values()) <= set(weights):
        return False
    for target, name in named.items():
        dtype = weights[name].dtype
        narrow, wide = (factors.read(target + part).to(dtype).float() for part in (first, second))
        weights[name] += ((wide @ narrow) * scale).to(dtype)
    return True


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # transformers tells what is wrong with it
        return {}
    return found if isinstance(found, dict) else {}
