"""Relative positions, as in MPNet (arXiv 2004.09297): how far a key is from a query changes their score.

Distances fall into buckets, near ones each into its own and far ones by their logarithm (T5, arXiv
1910.10683, section 2.1). Each head has a number for each bucket, the same in every layer.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn

from judge.models.blocked_attention import Block

FARTHEST = 128
"""Tokens; what is farther falls into one bucket."""
BARRED = -1e4
"""Added to a score to bar it; finite in every number format."""


class Distances(nn.Embedding):
    """Buckets of distances by heads, as they were pretrained: what is added to scores gets no gradient."""

    def __init__(self, buckets: int, heads: int):
        super().__init__(buckets, heads)
        self.weight.requires_grad_(False)

    def between(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """What is added to scores, ``(..., heads, queries, keys)``, from the positions of both."""
        distance = keys[..., None, :] - queries[..., :, None]
        buckets = self.num_embeddings // 2  # to the left; as many to the right
        near = buckets // 2
        far = torch.log(distance.abs().clamp(min=1) / near) / math.log(FARTHEST / near)
        far = (near + (far * (buckets - near)).long()).clamp(max=buckets - 1)
        bucket = torch.where(distance.abs() < near, distance.abs(), far)
        return self(bucket + buckets * (distance > 0)).movedim(-1, -3)

    def blocks(self, blocks: Sequence[Block], positions: torch.Tensor) -> list[Block]:
        """The blocks of a batch with distances, for all layers; ``positions`` are ``(pages, tokens)``."""
        found = []
        for block in blocks:
            row = positions[block.row]
            added = self.between(row[block.queries], row[block.keys])
            if block.bias is not None:
                added[..., -block.bias.shape[-1] :] += block.bias
            if torch.is_autocast_enabled(added.device.type):
                added = added.to(torch.get_autocast_dtype(added.device.type))
            found.append(block._replace(bias=added))
        return found

    def dense(self, mask: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """A mask of who looks at whom with distances, ``(pages, heads, tokens, tokens)``."""
        return self.between(positions, positions).masked_fill(~mask, BARRED)
