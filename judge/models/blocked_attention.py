"""Attention on a CPU, block by block: some queries against only those keys that any of them may see.

PyTorch's kernel computes masked scores too, and its backward pass is slow on CPUs. Here a block is computed
with plain matrix products, over as many heads at a time as keep the scores in the cache; heads that share
their keys are one product, without copies of the keys. The backward pass recomputes the scores, so only
queries, keys and values are kept between the passes.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

SCORES = 400_000
"""Maximum scores per step and thread; limits the number of heads at a time."""


class Block(NamedTuple):
    """Queries of one row that are computed together, and the keys that they attend to.

    ``keys`` are a slice, or places in ascending order. ``bias`` is added to the scores of the last keys, with
    shape ``(queries, last keys)``: minus infinity or a large negative number where a query must not attend.
    All queries attend to all keys before these.
    """

    row: int
    queries: slice
    keys: "slice | torch.Tensor"
    bias: "torch.Tensor | None"


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, blocks: Sequence[Block], scale: float
) -> torch.Tensor:
    """Attention of all blocks, in autocast's number format if autocast is on.

    Args:
        query: ``(rows, heads, tokens, size)``.
        key: the same, with as many heads or a divisor of that number; consecutive query heads share one.
        value: like the keys.
        blocks: no query may be in two of them; queries in none get zeros.
        scale: factor of the scores.

    Returns:
        ``(rows, heads, tokens, size)``.
    """
    kind = query.device.type
    if torch.is_autocast_enabled(kind):
        dtype = torch.get_autocast_dtype(kind)
        query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
    with torch.autocast(kind, enabled=False):
        output: torch.Tensor = _Attention.apply(query, key, value, blocks, scale)
    return output


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, blocks: Any, scale: float
    ) -> torch.Tensor:
        rows, heads, tokens, _ = query.shape
        # In the memory layout that the next layer expects: token after token.
        output = query.new_zeros(rows, tokens, heads, value.shape[3]).transpose(1, 2)
        room = _room(query, key, blocks)
        for block, own, shared in _steps(query, key, blocks):
            weights = _weights(_asked(query, block, own, shared) * scale, key, block, shared, room)
            found = torch.bmm(weights, value[block.row, shared][:, block.keys])
            place = output[block.row, own, block.queries]
            place.copy_(found.view(place.shape))
        ctx.save_for_backward(query, key, value)
        ctx.blocks, ctx.scale = blocks, scale
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        query, key, value = ctx.saved_tensors
        by_query = torch.zeros_like(query)
        # A key's gradient is a sum over all blocks that see it; in 16 bits the sum would lose parts.
        exact = torch.promote_types(key.dtype, torch.float32)
        by_key, by_value = (torch.zeros(part.shape, dtype=exact) for part in (key, value))
        room = _room(query, key, ctx.blocks)
        for block, own, shared in _steps(query, key, ctx.blocks):
            asked = _asked(query, block, own, shared) * ctx.scale
            weights = _weights(asked, key, block, shared, room)
            some = _asked(given, block, own, shared)
            _add(by_value, block, shared, torch.bmm(weights.transpose(1, 2), some))
            by_weight = torch.bmm(some, value[block.row, shared][:, block.keys].transpose(1, 2))
            by_score = torch._softmax_backward_data(by_weight, weights, -1, weights.dtype)
            found = torch.bmm(by_score, key[block.row, shared][:, block.keys])
            place = by_query[block.row, own, block.queries]
            torch.mul(found.view(place.shape), ctx.scale, out=place)
            _add(by_key, block, shared, torch.bmm(by_score.transpose(1, 2), asked))
        return by_query, by_key.to(key.dtype), by_value.to(value.dtype), None, None


def _count(place: "slice | torch.Tensor") -> int:
    return int(place.stop - place.start) if isinstance(place, slice) else len(place)


def _group(query: torch.Tensor, key: torch.Tensor) -> int:
    """Number of query heads that share a key head."""
    return query.shape[1] // key.shape[1]


def _heads(query: torch.Tensor, key: torch.Tensor, block: Block) -> int:
    """Number of key heads that are computed together."""
    scores = _group(query, key) * _count(block.queries) * _count(block.keys)
    return max(1, min(key.shape[1], torch.get_num_threads() * SCORES // scores))


def _steps(
    query: torch.Tensor, key: torch.Tensor, blocks: Sequence[Block]
) -> Iterator[tuple[Block, slice, slice]]:
    """Each block, a few heads at a time: slices of the query heads and of the key heads."""
    group = _group(query, key)
    for block in blocks:
        count = _heads(query, key, block)
        for start in range(0, key.shape[1], count):
            stop = min(start + count, key.shape[1])
            yield block, slice(start * group, stop * group), slice(start, stop)


def _room(query: torch.Tensor, key: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
    """Memory for the scores of a step, reused because allocating it costs as much as a product."""
    group = _group(query, key)
    sizes = (
        _heads(query, key, block) * group * _count(block.queries) * _count(block.keys) for block in blocks
    )
    return query.new_empty(max(sizes, default=0))


def _asked(tensor: torch.Tensor, block: Block, own: slice, shared: slice) -> torch.Tensor:
    """A block's queries, or its output's gradients, ``(key heads, queries of a group, size)``."""
    return tensor[block.row, own, block.queries].reshape(shared.stop - shared.start, -1, tensor.shape[3])


def _weights(
    asked: torch.Tensor, key: torch.Tensor, block: Block, shared: slice, room: torch.Tensor
) -> torch.Tensor:
    """The attention weights of scaled queries, ``(key heads, queries of a group, keys)``."""
    keys = _count(block.keys)
    heads, queries, _ = asked.shape
    scores = room[: heads * queries * keys].view(heads, queries, keys)
    torch.bmm(asked, key[block.row, shared][:, block.keys].transpose(1, 2), out=scores)
    if block.bias is not None:
        last = scores.view(-1, _count(block.queries), keys)[..., keys - block.bias.shape[-1] :]
        last += block.bias.to(scores.dtype)
    return torch.softmax(scores, -1, out=scores)


def _add(total: torch.Tensor, block: Block, shared: slice, part: torch.Tensor) -> None:
    """Add a block's part to the total of its keys."""
    if isinstance(block.keys, slice):
        total[block.row, shared, block.keys] += part
    else:
        total[block.row, shared].index_add_(1, block.keys, part.to(total.dtype))
