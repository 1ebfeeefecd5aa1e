"""Attention for prefix trees: block-sparse on CPUs, PyTorch's kernels or FlexAttention on GPUs.

PyTorch's attention takes a mask but computes every masked score all the same. In a prefix tree most scores
are masked: the branches do not see each other. On a CPU the queries therefore run in blocks, each against
the keys alone that any of its queries may see; the result is that of the dense computation. FlexAttention
does the same inside its kernels; it trains on GPUs only.
"""

from typing import TYPE_CHECKING, Any

from judge.errors import JudgeError

if TYPE_CHECKING:
    import torch

NAME = "block_sparse"
"""The name to give transformers as ``attn_implementation``, after :func:`register`."""

BLOCK = 256
"""Queries of one block. Fewer skip more, and cost more calls."""


def register() -> str:
    """Make the implementation known to transformers; returns its name."""
    import torch
    from torch.utils.weak import WeakTensorKeyDictionary
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    plans: Any = WeakTensorKeyDictionary()  # one plan a mask, made in the first layer and used in all

    def forward(
        module: Any,
        query: "torch.Tensor",
        key: "torch.Tensor",
        value: "torch.Tensor",
        attention_mask: "torch.Tensor | None",
        **options: Any,
    ) -> "tuple[torch.Tensor, None]":
        """Attention of transformers' interface; shapes ``(rows, heads, tokens, size)``."""
        if attention_mask is None or query.shape[2] <= BLOCK:
            return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
        if attention_mask not in plans:
            plans[attention_mask] = block_plan(attention_mask)
        outputs = [
            sdpa_attention_forward(
                module,
                query[:, :, start : start + BLOCK],
                key.index_select(2, seen),
                value.index_select(2, seen),
                part,
                **options,
            )[0]
            for start, seen, part in plans[attention_mask]
        ]
        return torch.cat(outputs, dim=1), None

    AttentionInterface.register(NAME, forward)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME


def block_plan(mask: "torch.Tensor") -> "list[tuple[int, torch.Tensor, torch.Tensor]]":
    """Which keys each block of queries needs.

    Args:
        mask: boolean, ``(rows, 1, queries, keys)``, true where a query may look.

    Returns:
        For each block its first query, the keys that any row's query of it may see ``(seen,)``, and the mask
        of the block on these keys ``(rows, 1, block, seen)``.
    """
    import torch

    if mask.dtype != torch.bool:
        raise JudgeError(f"block-sparse attention takes a boolean mask, not {mask.dtype}")
    plan = []
    for start in range(0, mask.shape[2], BLOCK):
        rows = mask[:, :, start : start + BLOCK]
        seen = rows.flatten(0, 2).any(0).nonzero().squeeze(1)
        plan.append((start, seen, rows.index_select(3, seen)))
    return plan


def adapt_mask(model: Any, mask: "torch.Tensor") -> Any:
    """A mask of tokens by tokens in the form that a model's attention takes.

    Args:
        model: it names its attention in its config.
        mask: ``(rows, tokens)``, which every attention takes, or boolean ``(rows, 1, queries, keys)``.

    Returns:
        The mask; for FlexAttention the blocks of it that hold a true entry.
    """
    if mask.dim() != 4 or model.config.get_text_config()._attn_implementation != "flex_attention":
        return mask
    from torch.nn.attention.flex_attention import create_block_mask

    def visible(row: Any, head: Any, query: Any, key: Any) -> Any:
        return mask[row, 0, query, key]

    rows, _, queries, keys = mask.shape
    return create_block_mask(visible, rows, None, queries, keys, device=str(mask.device))
