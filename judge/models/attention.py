"""Attention for prefix trees: block-sparse on CPUs, PyTorch's kernels or FlexAttention on GPUs.

PyTorch's attention takes a mask but computes every masked score all the same. In a prefix tree most scores
are masked: the branches do not see each other. On a CPU the queries therefore run in blocks, each against
the keys alone that any of its queries may see; the result is that of the dense computation. FlexAttention
does the same inside its kernels; it trains on GPUs only.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge.errors import JudgeError

if TYPE_CHECKING:
    import torch

NAME = "block_sparse"
"""The name to give transformers as ``attn_implementation``, after :func:`register`."""

BLOCK = 256
"""Queries of one block. Fewer skip more, and cost more calls."""

ALIGNED = 16
"""Numbers between the lines of a mask that PyTorch's memory-efficient kernel takes as they are."""


def register() -> str:
    """Make the implementation known to transformers; returns its name."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention
    from torch.utils.weak import WeakTensorKeyDictionary
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
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
        settings = {"dropout_p": options.get("dropout", 0.0), "scale": options.get("scaling")}
        if query.shape[2] == 1:
            # A reply is being written. transformers would copy all keys and values for every head that shares
            # them, at each token; PyTorch's kernel needs no copies.
            output = scaled_dot_product_attention(
                query, key, value, attention_mask, enable_gqa=True, **settings
            )
            return output.transpose(1, 2).contiguous(), None
        if attention_mask is None or query.shape[2] <= BLOCK:
            return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
        if attention_mask not in plans:
            plans[attention_mask] = block_plan(attention_mask)
        plan = plans[attention_mask]
        key, value = (repeat_kv(part, module.num_key_value_groups) for part in (key, value))
        outputs = []
        if plan.causal:
            trunk = slice(plan.causal)
            queries, keys, values = (part[:, :, trunk] for part in (query, key, value))
            outputs.append(scaled_dot_product_attention(queries, keys, values, is_causal=True, **settings))
        for start, stop, seen, mask in plan.blocks:
            keys, values = (part.index_select(2, seen) for part in (key, value))
            outputs.append(
                scaled_dot_product_attention(query[:, :, start:stop], keys, values, mask, **settings)
            )
        return torch.cat(outputs, dim=2).transpose(1, 2).contiguous(), None

    # A plan goes by what the mask holds, which no compiled code can.
    AttentionInterface.register(NAME, torch.compiler.disable(forward))
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """What to compute of a masked attention.

    The first ``causal`` queries look at all before them, as in any text: the trunk of a tree, for which
    PyTorch has a kernel without a mask. Of each block of the others: its first query and the one after its
    last, the keys that any row's query of it may see ``(seen,)``, and the mask of the block on these keys
    ``(rows, 1, block, seen)``.
    """

    causal: int
    blocks: "tuple[tuple[int, int, torch.Tensor, torch.Tensor], ...]"


def block_plan(mask: "torch.Tensor") -> BlockPlan:
    """Plan the attention under a boolean mask ``(rows, 1, queries, keys)``, true where a query may look."""
    import torch

    if mask.dtype != torch.bool:
        raise JudgeError(f"block-sparse attention takes a boolean mask, not {mask.dtype}")
    queries, keys = mask.shape[2:]
    plain = (mask == torch.ones(queries, keys, dtype=torch.bool).tril()).all(3).all(0).flatten()
    causal = int(plain.long().cumprod(0).sum()) if queries <= keys else 0
    if causal < BLOCK:  # no gain over blocks
        causal = 0
    blocks = []
    for start in range(causal, queries, BLOCK):
        rows = mask[:, :, start : start + BLOCK]
        seen = rows.flatten(0, 2).any(0).nonzero().squeeze(1)
        blocks.append((start, start + rows.shape[2], seen, rows.index_select(3, seen)))
    return BlockPlan(causal, tuple(blocks))


def tree_attention(model: Any, nodes: "torch.Tensor", parents: "torch.Tensor") -> Any:
    """The mask of a batch of prefix trees in the form that a model's attention takes.

    It is made on the trees' device, once for all layers. PyTorch's kernels on a GPU would make numbers of a
    boolean mask in every layer, and keep them for the backward pass, so they get numbers.

    Args:
        model: it names its attention in its config.
        nodes: branch of each token, ``(trees, tokens)``.
        parents: the parents of the branches, ``(trees, branches)``.

    Returns:
        A mask ``(trees, 1, tokens, tokens)``; for FlexAttention the blocks of it that hold a true entry.
    """
    from judge.models.prefix_tree import lineage, tree_mask

    if model.config.get_text_config()._attn_implementation == "flex_attention":
        from torch.nn.attention.flex_attention import create_block_mask

        visible = lineage(parents)

        def looks(row: Any, head: Any, query: Any, key: Any) -> Any:
            return visible[row, nodes[row, query], nodes[row, key]] & (key <= query)

        trees, tokens = nodes.shape
        return create_block_mask(looks, trees, None, tokens, tokens, device=str(nodes.device))
    mask = tree_mask(nodes, parents)
    return as_numbers(mask, model.dtype) if mask.is_cuda else mask


def as_numbers(mask: "torch.Tensor", dtype: "torch.dtype") -> "torch.Tensor":
    """A boolean mask as what is added to the scores, in the number format of the queries.

    Its lines begin at multiples of 16 numbers: PyTorch would copy another one in every layer.
    """
    import torch

    kind = mask.device.type
    if torch.is_autocast_enabled(kind):
        dtype = torch.get_autocast_dtype(kind)
    *rest, keys = mask.shape
    numbers = torch.zeros(*rest, -(-keys // ALIGNED) * ALIGNED, dtype=dtype, device=mask.device)[..., :keys]
    return numbers.masked_fill_(~mask, -torch.inf)
