"""Sizes of the models that recipes name and people start from, so that planning needs no network.

From their ``config.json``: hidden size, layers, heads, heads of keys and values, intermediate size,
vocabulary, and whether the LM head is the embeddings.
"""

from collections.abc import Mapping

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


def known_config(model: str) -> dict[str, int | bool] | None:
    """The sizes of a model on the Hub under the names of its ``config.json``; ``None`` for any other.

    A model that was tuned to follow instructions (``...-Instruct``) has the sizes of its base.
    """
    sizes = _SIZES.get(model.removesuffix("-Instruct"))
    return None if sizes is None else dict(zip(_FIELDS, sizes, strict=True))
