"""DeBERTa v3 (arXiv 2006.03654, 2111.09543) as a BERT: the same layers, but scores that know distances.

How much a token looks at another is the sum of three products: of what both are, of what the first is and
how far the second is, and the other way round (section 3.1). There are no positions besides. Answers stand
behind the longest window of their page: with a document of one window all distances are those of the two
texts in a row, as an encoder reads them that was trained on inference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from judge.encoder.distances import BARRED
from judge.models.blocked_attention import Block

KIND = "deberta-v2"
"""What version 3 is called too."""
PREFIX = "deberta."
NAMES = {f".attention.self.{part}_proj.": f".attention.self.{part}." for part in ("query", "key", "value")}
"""Parts of its names, and of BERT's for the same weights."""
NEEDED = {
    "relative_attention": True, "share_att_key": True, "norm_rel_ebd": "layer_norm",
    "position_biased_input": False, "conv_kernel_size": 0, "type_vocab_size": 0,
}  # fmt: skip
"""Of its config.json: what version 3 has. Others have more parts."""


def as_bert_config(config: dict[str, Any]) -> dict[str, Any]:
    """The content of its ``config.json`` as a BERT would have it.

    Raises:
        ValueError: it is one of version 2, or of another build.
    """
    for name, wanted in NEEDED.items():
        found = config.get(name, 0 if name == "conv_kernel_size" else None)
        if found != wanted:
            raise ValueError(f"{name} is {found!r}; a DeBERTa v3 has {wanted!r}")
    kinds = config.get("pos_att_type") or []
    kinds = kinds.split("|") if isinstance(kinds, str) else kinds
    if sorted(kinds) != ["c2p", "p2c"] or config.get("position_buckets", -1) < 1:
        raise ValueError("has distances of one kind alone; a DeBERTa v3 has c2p and p2c, in buckets")
    longest = config.get("max_relative_positions", -1)
    return {
        **config,
        "model_type": "bert",
        "type_vocab_size": 2,
        "max_position_embeddings": 0,
        "max_relative_positions": longest if longest > 0 else config.get("max_position_embeddings", 512),
    }


def as_bert_weights(stored: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Its weights by the names that a BERT has; kinds of tokens begin as zeros, and training makes them."""
    named = {}
    for name, value in stored.items():
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        named[name.removeprefix(PREFIX)] = value
    size = named["embeddings.word_embeddings.weight"].shape[1]
    kinds = torch.zeros(2, size, dtype=named["embeddings.word_embeddings.weight"].dtype)
    return {**named, "embeddings.token_type_embeddings.weight": kinds}


def buckets(distance: torch.Tensor, span: int, farthest: int) -> torch.Tensor:
    """The row of the table of distances, 0 to ``2 * span - 1``: near ones exactly, far ones by logarithm."""
    near = span // 2
    size = distance.abs().clamp(min=near).float() / near
    longest = torch.log(torch.tensor((farthest - 1) / near))  # in 32 bits, as where it was pretrained
    far = torch.ceil(torch.log(size) / longest * (near - 1)) + near
    found = torch.where(distance.abs() <= near, distance, far.long() * distance.sign())
    return (found + span).clamp(0, 2 * span - 1)


def in_a_row(positions: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    """Positions ``(pages, tokens)`` with answers behind the longest window of their page."""
    windows = torch.where(kinds == 0, positions + 1, 0).amax(1, keepdim=True)
    return torch.where(kinds == 0, positions, positions + windows)


@dataclass(frozen=True, slots=True)
class Places:
    """Who looks at whom in a batch, and how far they are apart; the same in every layer.

    ``parts`` has the pages' blocks, or one for the whole batch with a dense mask: which rows, queries and
    keys, what is added to the scores, and for each pair its row of ``table``, which has all distances.
    """

    parts: tuple[tuple[Any, Any, Any, torch.Tensor | None, torch.Tensor], ...]
    table: torch.Tensor

    @classmethod
    def of(
        cls, table: torch.Tensor, farthest: int, positions: torch.Tensor, blocks: Sequence[Block]
    ) -> "Places":
        """Of blocks. Rows of the table that no pair has are left out."""
        span = table.shape[0] // 2
        parts: list[Any] = []
        for block in blocks:
            row = positions[block.row]
            distance = row[block.queries][:, None] - row[block.keys][None, :]
            parts.append(
                (block.row, block.queries, block.keys, block.bias, buckets(distance, span, farthest))
            )
        first = min((int(part[-1].min()) for part in parts), default=0)
        last = max((int(part[-1].max()) for part in parts), default=0)
        moved = tuple((*part[:-1], part[-1] - first) for part in parts)
        return cls(moved, table[first : last + 1])

    @classmethod
    def dense(
        cls, table: torch.Tensor, farthest: int, positions: torch.Tensor, mask: torch.Tensor
    ) -> "Places":
        """Of one mask of who looks at whom, ``(pages, 1, tokens, tokens)``."""
        distance = positions[:, None, :, None] - positions[:, None, None, :]
        barred = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, BARRED)
        index = buckets(distance, table.shape[0] // 2, farthest)
        everything = slice(None)
        return cls(((everything, everything, everything, barred, index),), table)

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        far_query: torch.Tensor,
        far_key: torch.Tensor,
    ) -> torch.Tensor:
        """What each token sees, ``(pages, heads, tokens, size)``.

        Args:
            query: of tokens, ``(pages, heads, tokens, size)``; ``key`` and ``value`` are the same.
            far_query: of distances, ``(heads, rows of the table, size)``; ``far_key`` is the same.
        """
        kind = query.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else query.dtype
        tensors = (part.to(dtype) for part in (query, key, value, far_query, far_key))
        with torch.autocast(kind, enabled=False):
            output: torch.Tensor = _Attention.apply(*tensors, self.parts)
        return output


def _seen(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    far_query: torch.Tensor,
    far_key: torch.Tensor,
    bias: torch.Tensor | None,
    index: torch.Tensor,
) -> torch.Tensor:
    """What the queries of one part see."""
    scale = (3 * query.shape[-1]) ** -0.5
    query, far_query = query * scale, far_query * scale
    index = index.expand(*query.shape[:-1], index.shape[-1])
    scores = query @ key.transpose(-1, -2) + (query @ far_key.transpose(-1, -2)).gather(-1, index)
    by_key = (key @ far_query.transpose(-1, -2)).gather(-1, index.transpose(-1, -2))
    scores = scores + by_key.transpose(-1, -2)
    if bias is not None:
        scores = scores + bias
    return torch.softmax(scores, -1, dtype=torch.float32).to(value.dtype) @ value


class _Attention(torch.autograd.Function):
    """Part by part. The backward pass makes the scores again, so that nothing is kept but what goes in."""

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        far_query: torch.Tensor,
        far_key: torch.Tensor,
        parts: Any,
    ) -> torch.Tensor:
        output = torch.zeros_like(query)
        for row, queries, keys, *rest in parts:
            known = (row, slice(None), keys)
            asked = (row, slice(None), queries)
            output[asked] = _seen(query[asked], key[known], value[known], far_query, far_key, *rest)
        ctx.save_for_backward(query, key, value, far_query, far_key)
        ctx.parts = parts
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        tensors = ctx.saved_tensors
        # A key and a distance get a part from everything that sees them; in 16 bits the sum would lose some.
        exact = torch.promote_types(given.dtype, torch.float32)
        totals = [torch.zeros(tensor.shape, dtype=exact, device=tensor.device) for tensor in tensors]
        for row, queries, keys, *rest in ctx.parts:
            known, asked = (row, slice(None), keys), (row, slice(None), queries)
            places = (asked, known, known, ..., ...)
            some = [tensor[at].detach().requires_grad_() for tensor, at in zip(tensors, places, strict=True)]
            with torch.enable_grad():
                found = _seen(*some, *rest)
            for total, at, part in zip(
                totals, places, torch.autograd.grad(found, some, given[asked]), strict=True
            ):
                total[at] += part
        return *(total.to(given.dtype) for total in totals), None
