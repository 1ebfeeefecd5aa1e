"""A language model's head in float32 for the moment: logits of bfloat16 come in steps that are too coarse.

A logit of 20 has steps of 1/8 in bfloat16, so a probability of one half may stand for anything from 0.47 to
0.53. A judge reads few positions, so the head can run in float32 on them at little cost.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@contextmanager
def float32_head(model: Any, kept: "torch.Tensor | None" = None) -> Iterator[None]:
    """Within the block, the head of a causal language model computes and returns float32 logits.

    What a model does to its logits afterwards (scaling, soft-capping) stays. Heads that are no plain linear
    layer are left alone.

    Args:
        model: the language model.
        kept: boolean ``(rows, tokens)``, of the hidden states that reach the head those to go on with; the
            logits are then of shape ``(kept, vocabulary)``.
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
        del head.forward  # the class's own shows again


def read_logits(model: Any, plain: Any, places: "torch.Tensor", **inputs: Any) -> "tuple[torch.Tensor, Any]":
    """Float32 logits of a forward pass where they are wanted, and nowhere else.

    Args:
        model: what is called: the language model, or what a trainer wrapped it in.
        plain: the language model itself.
        places: boolean ``(rows, tokens)``.
        inputs: of the model.

    Returns:
        Logits ``(places, vocabulary)``, row after row, and the model's outputs.
    """
    columns = places.any(0).nonzero().squeeze(1)
    kept = places[:, columns]  # rows are read in different columns
    with float32_head(plain, kept):
        outputs = model(**inputs, logits_to_keep=columns, use_cache=False)
    logits = outputs.logits
    return (logits if logits.dim() == 2 else logits[kept]).float(), outputs
