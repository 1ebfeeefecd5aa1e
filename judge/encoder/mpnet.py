"""MPNet (arXiv 2004.09297) as a BERT: the same layers under other names, and relative positions beside.

Its first two positions stand for padding, and it has no kinds of tokens: those begin as zeros, and training
makes them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

KIND = "mpnet"
PADDING = 2
"""Positions that are no token's."""
NAMES = {
    ".attention.attn.q.": ".attention.self.query.",
    ".attention.attn.k.": ".attention.self.key.",
    ".attention.attn.v.": ".attention.self.value.",
    ".attention.attn.o.": ".attention.output.dense.",
    ".attention.LayerNorm.": ".attention.output.LayerNorm.",
}
"""Parts of MPNet's names, and of BERT's for the same weights."""
POSITIONS = "embeddings.position_embeddings.weight"
KINDS = "embeddings.token_type_embeddings.weight"


def as_bert_config(config: dict[str, Any]) -> dict[str, Any]:
    """The content of its ``config.json`` as a BERT would have it."""
    return {
        **config,
        "model_type": "bert",
        "max_position_embeddings": config["max_position_embeddings"] - PADDING,
        "relative_attention_num_buckets": config.get("relative_attention_num_buckets", 32),
    }


def as_bert_weights(stored: "dict[str, torch.Tensor]") -> "dict[str, torch.Tensor]":
    """Its weights by the names that a BERT has."""
    named = {}
    for name, value in stored.items():
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        named[name.removeprefix(f"{KIND}.")] = value
    places = named[POSITIONS][PADDING:].contiguous()
    return {**named, POSITIONS: places, KINDS: places.new_zeros(2, places.shape[1])}
