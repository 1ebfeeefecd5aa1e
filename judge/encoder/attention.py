"""Attention of windows to themselves and of answers to everything before them, without the rest.

A dense mask would let PyTorch compute every score and drop most. On a CPU each window and the answers of a
page are blocks of :mod:`judge.models.blocked_attention`: against PyTorch's own kernel with a mask a pass is
1.2 to 3.8 times as fast, forward and backward (``tests/bench/encoder_speed.py``). On a GPU PyTorch's kernel
runs with the dense mask.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

NAME = "judge_pages"
"""The name to give transformers as ``attn_implementation``, after :func:`register`."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Who looks at whom in one page.

    ``windows`` are places where a window begins and where the last one ends. Answers reach from there to
    ``end``; what follows is padding. ``own`` is added to the scores of the answers, ``(answers, end)``: 0
    where a token may look, and a large negative number where it may not.
    """

    windows: tuple[int, ...]
    end: int
    own: "torch.Tensor"

    def parts(self) -> "Iterator[tuple[slice, slice, torch.Tensor | None]]":
        """Queries, the keys that they look at, and what is added to the scores."""
        for start, stop in zip(self.windows[:-1], self.windows[1:], strict=True):
            yield slice(start, stop), slice(start, stop), None
        if self.end > self.windows[-1]:
            yield slice(self.windows[-1], self.end), slice(0, self.end), self.own


def register() -> str:
    """Make the implementation known to transformers; returns its name."""
    from transformers import AttentionInterface, AttentionMaskInterface

    from judge.models.blocked_attention import Block, attend

    def forward(
        module: Any,
        query: "torch.Tensor",
        key: "torch.Tensor",
        value: "torch.Tensor",
        attention_mask: "torch.Tensor | None",
        *,
        blocks: Sequence[Blocks],
        scaling: float | None = None,
        **_: Any,
    ) -> "tuple[torch.Tensor, None]":
        """Attention of transformers' interface; shapes ``(pages, heads, tokens, size)``."""
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        parts = [
            Block(page, *part) for page, page_blocks in enumerate(blocks) for part in page_blocks.parts()
        ]
        return attend(query, key, value, parts, scale).transpose(1, 2).contiguous(), None

    AttentionInterface.register(NAME, forward)
    AttentionMaskInterface.register(NAME, lambda *_, **__: None)
    return NAME
