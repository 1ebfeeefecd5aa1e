"""Attention of windows to themselves, and of answers to all windows and themselves.

With a dense mask, PyTorch would compute every score and drop most. On a CPU each window and the answers of a
page are blocks of :mod:`judge.models.blocked_attention`, 1.2 to 3.8 times as fast as PyTorch's own kernel
with a mask, forward and backward. On a GPU PyTorch's kernel runs with the dense mask.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import scaled_dot_product_attention

from judge.models import blocked_attention
from judge.models.blocked_attention import Block


@dataclass(frozen=True, slots=True)
class Blocks:
    """The attention mask of one page.

    ``windows`` has the start of each window and the end of the last one. Answers reach from there to ``end``;
    the rest is padding. ``own`` is added to the scores of the answers, ``(answer tokens, end)``: 0 where a
    query attends to a key, and a large negative number where it may not.
    """

    windows: tuple[int, ...]
    end: int
    own: torch.Tensor

    def parts(self) -> Iterator[tuple[slice, slice, torch.Tensor | None]]:
        """Queries, the keys that they attend to, and the bias added to the scores, if any."""
        for start, stop in zip(self.windows[:-1], self.windows[1:], strict=True):
            yield slice(start, stop), slice(start, stop), None
        if self.end > self.windows[-1]:
            yield slice(self.windows[-1], self.end), slice(0, self.end), self.own


def blocks_of(pages: Sequence[Blocks]) -> list[Block]:
    """The attention blocks of a batch of pages, the same in every layer."""
    return [Block(row, *part) for row, page in enumerate(pages) for part in page.parts()]


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    blocks: Sequence[Block],
    mask: torch.Tensor | None,
) -> torch.Tensor:
    """Attention of pages, ``(pages, heads, tokens, size)``: by blocks, or by PyTorch with a dense mask."""
    if mask is not None:
        return scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return blocked_attention.attend(query, key, value, blocks, query.shape[-1] ** -0.5)
