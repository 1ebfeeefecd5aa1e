"""Runs a language model's head in float32, because bfloat16 logits are too coarse.

A logit of 20 has steps of 1/8 in bfloat16, so a probability of one half may be anything from 0.47 to 0.53. A
judge reads few positions, so running the head on them in float32 costs little.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@contextmanager
def float32_head(model: Any, kept: "torch.Tensor | None" = None) -> Iterator[None]:
    """Within the block, the head of a causal language model computes and returns float32 logits.

    What a model does to its logits afterwards (scaling, soft-capping) is unchanged. Heads that are not plain
    linear layers are left alone.

    Args:
        model: the language model.
        kept: boolean ``(rows, tokens)``, selects hidden states at the input of the head; the logits then have
            shape ``(kept, vocabulary)``.
    """
    import torch

    from judge.models.float32_linear import float32_linear

    head = model.get_output_embeddings()
    if not isinstance(head, torch.nn.Linear) or not head.weight.is_floating_point():
        yield
        return

    def forward(hidden: "torch.Tensor") -> "torch.Tensor":
        return float32_linear(hidden if kept is None else hidden[kept], head.weight, head.bias)

    head.forward = forward
    try:
        yield
    finally:
        del head.forward  # restores the method of the class


def read_logits(model: Any, plain: Any, places: "torch.Tensor", **inputs: Any) -> "tuple[torch.Tensor, Any]":
    """Float32 logits of a forward pass at selected places only.

    Args:
        model: the language model, or a trainer's wrapper around it.
        plain: the language model itself.
        places: boolean ``(rows, tokens)``.
        inputs: inputs of the model.

    Returns:
        Logits ``(places, vocabulary)``, row after row, and the model's outputs.
    """
    columns = places.any(0).nonzero().squeeze(1)
    kept = places[:, columns]  # rows are read in different columns
    with float32_head(plain, kept):
        outputs = model(**inputs, logits_to_keep=columns, use_cache=False)
    logits = outputs.logits
    return (logits if logits.dim() == 2 else logits[kept]).float(), outputs
