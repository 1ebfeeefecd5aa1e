"""Attention of windows to themselves and of answers to everything before them, without the rest.

A dense mask would let PyTorch compute every score and drop most. On a CPU each window and the answers of a
page run by themselves, a few heads at a time, so that the scores stay in the cache; the backward pass makes
them again. Against PyTorch's own kernel with a mask a pass is 1.2 to 3.8 times as fast on a CPU, forward
and backward (``tests/bench/encoder_speed.py``). On a GPU PyTorch's kernel runs with the dense mask.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

SCORES = 400_000
"""Scores of one step: as many heads at a time as have fewer."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Who looks at whom in one page.

    ``windows`` are places where a window begins and where the last one ends. Answers reach from there to
    ``end``; what follows is padding. ``own`` is added to the scores of the answers, ``(answers, end)``: 0
    where a token may look, and a large negative number where it may not.
    """

    windows: tuple[int, ...]
    end: int
    own: torch.Tensor

    def parts(self) -> Iterator[tuple[slice, slice, torch.Tensor | None]]:
        """Queries, the keys that they look at, and what is added to the scores."""
        for start, stop in zip(self.windows[:-1], self.windows[1:], strict=True):
            yield slice(start, stop), slice(start, stop), None
        if self.end > self.windows[-1]:
            yield slice(self.windows[-1], self.end), slice(0, self.end), self.own


class Paged(torch.autograd.Function):
    """Attention page by page; shapes ``(pages, heads, tokens, size)``."""

    @staticmethod
    def forward(
        ctx: Any, query: Any, key: Any, value: Any, blocks: Sequence[Blocks], scale: float
    ) -> torch.Tensor:
        """What each token sees; padding sees nothing."""
        output = torch.zeros_like(query)
        for page, heads, queries, keys, bias in _steps(query, blocks):
            weights = _weights(query, key, page, heads, queries, keys, bias, scale)
            output[page, heads, queries] = torch.bmm(weights, value[page, heads, keys])
        ctx.save_for_backward(query, key, value)
        ctx.blocks, ctx.scale = blocks, scale
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients, from weights that are made again."""
        query, key, value = ctx.saved_tensors
        [given] = gradients
        by_query, by_key, by_value = (torch.zeros_like(part) for part in (query, key, value))
        for page, heads, queries, keys, bias in _steps(query, ctx.blocks):
            weights = _weights(query, key, page, heads, queries, keys, bias, ctx.scale)
            some = given[page, heads, queries]
            by_value[page, heads, keys] += torch.bmm(weights.transpose(1, 2), some)
            by_weight = torch.bmm(some, value[page, heads, keys].transpose(1, 2))
            by_score = torch._softmax_backward_data(by_weight, weights, -1, weights.dtype)
            by_score *= ctx.scale
            by_query[page, heads, queries] = torch.bmm(by_score, key[page, heads, keys])
            by_key[page, heads, keys] += torch.bmm(by_score.transpose(1, 2), query[page, heads, queries])
        return by_query, by_key, by_value, None, None


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    blocks: Sequence[Blocks],
    mask: torch.Tensor | None,
) -> torch.Tensor:
    """Attention of pages, ``(pages, heads, tokens, size)``: by blocks, or by PyTorch with a dense mask."""
    if mask is not None:
        return scaled_dot_product_attention(query, key, value, attn_mask=mask)
    seen: torch.Tensor = Paged.apply(query, key, value, blocks, query.shape[-1] ** -0.5)
    return seen


def _steps(query: torch.Tensor, blocks: Sequence[Blocks]) -> Iterator[Any]:
    """Page, heads, queries, keys and what is added to the scores, a few heads at a time."""
    heads = query.shape[1]
    for page, block in enumerate(blocks):
        for queries, keys, bias in block.parts():
            size = (queries.stop - queries.start) * (keys.stop - keys.start)
            step = max(1, min(heads, SCORES // size))
            added = None if bias is None else bias.to(query.dtype)
            for start in range(0, heads, step):
                yield page, slice(start, start + step), queries, keys, added


def _weights(
    query: Any, key: Any, page: int, heads: slice, queries: slice, keys: slice, bias: Any, scale: float
) -> Any:
    """How much each query looks at each key, ``(heads, queries, keys)``."""
    asked, there = query[page, heads, queries], key[page, heads, keys].transpose(1, 2)
    if bias is None:
        scores = torch.bmm(asked, there).mul_(scale)
    else:
        scores = torch.baddbmm(bias, asked, there, alpha=scale)
    return torch.softmax(scores, -1)
