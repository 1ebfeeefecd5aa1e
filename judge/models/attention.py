"""Attention for prefix trees: in blocks on CPUs, PyTorch's kernels on GPUs.

PyTorch's attention computes masked scores too, and in a prefix tree most scores are masked, because branches
do not see each other. On a CPU the queries therefore run in blocks, each only against the keys that any of
its queries may see (:mod:`judge.models.blocked_attention`), with the same result as the dense computation.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judge.errors import JudgeError

if TYPE_CHECKING:
    import torch

    from judge.models.blocked_attention import Block

NAME = "block_sparse"
"""Value of transformers' ``attn_implementation``, after :func:`register`."""

BLOCK_BYTES = 256
"""Size of a block, as bytes of one number per query: 128 queries in bfloat16, 64 in float32. Smaller blocks
skip more scores but need more calls; the scores of larger blocks do not fit in the cache."""

ALIGNED = 16
"""Alignment of the rows of a mask, in numbers, with which PyTorch's memory-efficient kernel needs no copy."""


def planned_blocks(
    query: "torch.Tensor", key: "torch.Tensor", mask: "torch.Tensor | None", causal: bool, plans: Any
) -> "tuple[Block, ...] | None":
    """The blocks to compute, for queries and keys ``(rows, heads, tokens, size)``.

    ``None`` if PyTorch's kernel should be used: for few tokens, and for plain text in float32, where it is as
    fast. ``plans`` holds the blocks of each mask: made in a model's first layer, and reused in all others.
    """
    import torch

    rows, _, tokens, _ = query.shape
    kind = query.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else query.dtype
    if tokens <= BLOCK_BYTES // dtype.itemsize:
        return None
    if mask is None:
        plain = tokens == key.shape[2] and causal and dtype.itemsize < 4
        return causal_blocks(rows, tokens, dtype) if plain else None
    if (plans.get(mask) or (None,))[0] is not dtype:
        plans[mask] = (dtype, masked_blocks(mask.expand(rows, -1, -1, -1), dtype))
    found: tuple[Block, ...] = plans[mask][1]
    return found


def register() -> str:
    """Register the implementation with transformers; returns its name."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention
    from torch.utils.weak import WeakTensorKeyDictionary
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    from judge.models.blocked_attention import attend

    plans = WeakTensorKeyDictionary()

    def forward(
        module: Any,
        query: "torch.Tensor",
        key: "torch.Tensor",
        value: "torch.Tensor",
        attention_mask: "torch.Tensor | None",
        **options: Any,
    ) -> "tuple[torch.Tensor, None]":
        """Attention of transformers' interface; shapes ``(rows, heads, tokens, size)``."""
        if query.shape[2] == 1:
            # Decoding a reply. Heads that share keys and values become queries of one head: transformers
            # would copy all keys and values for every head at each token, and PyTorch's kernel is slow in
            # bfloat16 when told that heads share them.
            rows, heads, _, size = query.shape
            output = scaled_dot_product_attention(
                query.reshape(rows, key.shape[1], -1, size),
                key,
                value,
                attention_mask,
                dropout_p=options.get("dropout", 0.0),
                scale=options.get("scaling"),
            )
            return output.reshape(rows, 1, heads, -1), None
        causal = options.get("is_causal")
        causal = getattr(module, "is_causal", True) if causal is None else causal
        blocks = None
        if not options.get("dropout"):
            blocks = planned_blocks(query, key, attention_mask, causal, plans)
        if blocks is None:
            return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
        scale = options.get("scaling")
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        return attend(query, key, value, blocks, scale).transpose(1, 2).contiguous(), None

    # The blocks depend on the values of the mask, which compiled code cannot handle.
    AttentionInterface.register(NAME, torch.compiler.disable(forward))
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME


@lru_cache(maxsize=64)
def causal_blocks(rows: int, tokens: int, dtype: "torch.dtype") -> "tuple[Block, ...]":
    """The blocks of plain causal attention."""
    import torch

    from judge.models.blocked_attention import Block

    size = BLOCK_BYTES // dtype.itemsize
    diagonal = torch.full((size, size), -torch.inf, dtype=dtype).triu(1)
    return tuple(
        Block(row, slice(start, stop), slice(0, stop), diagonal[: stop - start, : stop - start])
        for row in range(rows)
        for start in range(0, tokens, size)
        for stop in [min(start + size, tokens)]
    )


def masked_blocks(mask: "torch.Tensor", dtype: "torch.dtype") -> "tuple[Block, ...]":
    """The blocks of a boolean mask ``(rows, 1, queries, keys)``, true where a query attends to a key.

    A query that attends to no key is padding; its output is finite and meaningless.

    Args:
        mask: the mask.
        dtype: number format of the scores, and of the bias added to them, made once for all layers.
    """
    import torch

    from judge.models.blocked_attention import Block

    if mask.dtype != torch.bool or mask.shape[1] != 1:
        raise JudgeError(
            f"attention in blocks takes a boolean mask for all heads, not {mask.dtype} {tuple(mask.shape)}"
        )
    size = BLOCK_BYTES // dtype.itemsize
    blocks = []
    for row, visible in enumerate(mask[:, 0]):
        for start, some in zip(range(0, len(visible), size), visible.split(size), strict=True):
            seen = some.any(0).nonzero().squeeze(1)
            if not len(seen):
                continue
            some = some.index_select(1, seen)
            some[~some.any(1)] = True
            common = int(some.all(0).long().cumprod(0).sum())  # leading keys that all queries see
            hidden = ~some[:, common:]
            bias = torch.zeros(hidden.shape, dtype=dtype).masked_fill_(hidden, -torch.inf)
            first, last = int(seen[0]), int(seen[-1])
            keys = slice(first, last + 1) if last - first + 1 == len(seen) else seen
            queries = slice(start, start + len(some))
            blocks.append(Block(row, queries, keys, bias if hidden.shape[1] else None))
    return tuple(blocks)


def tree_attention(model: Any, nodes: "torch.Tensor", parents: "torch.Tensor") -> "torch.Tensor":
    """The mask of a batch of prefix trees, ``(trees, 1, tokens, tokens)``, in the form that attention takes.

    It is made on the trees' device, once for all layers. On a GPU, PyTorch's kernels would convert a boolean
    mask to numbers in every layer, and keep them for the backward pass, so it is converted here.

    Args:
        model: the model that computes.
        nodes: branch of each token, ``(trees, tokens)``.
        parents: the parents of the branches, ``(trees, branches)``.
    """
    from judge.models.prefix_tree import tree_mask

    mask = tree_mask(nodes, parents)
    return as_numbers(mask, model.dtype) if mask.is_cuda else mask


def as_numbers(mask: "torch.Tensor", dtype: "torch.dtype") -> "torch.Tensor":
    """A boolean mask as numbers to add to the scores, in the number format of the queries.

    Its rows begin at multiples of 16 numbers, because PyTorch would copy any other mask in every layer.
    """
    import torch

    kind = mask.device.type
    if torch.is_autocast_enabled(kind):
        dtype = torch.get_autocast_dtype(kind)
    *rest, keys = mask.shape
    numbers = torch.zeros(*rest, -(-keys // ALIGNED) * ALIGNED, dtype=dtype, device=mask.device)[..., :keys]
    return numbers.masked_fill_(~mask, -torch.inf)
