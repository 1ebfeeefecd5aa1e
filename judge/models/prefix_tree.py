"""Exact prefix sharing: rows with common prefixes run as one tree, and each prefix is computed once.

A judge's rows are nearly all prompt. Prompts about one document agree up to the question, those about one
question up to the answer, those of both modes up to the last instruction. A tree of such rows is one
sequence:

    [document][question 1][answer a][answer b][question 2][answer c]...

Position ids restart where a branch begins, and a mask lets a token attend only to its own branch and those it
continues, so every row is computed as if it were alone. Each branch repeats the last shared token, so that
the token before a row's first own token is always directly before it: next-token labels and logits of a row
need no special case.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge.prompting.rendering import common_prefix

if TYPE_CHECKING:
    import torch

TokenRow = Sequence[int]

TREE_TOKENS = 16_384
"""Maximum tokens of a tree of several rows. Its mask has a byte for each pair of tokens, a quarter of a GiB;
a longer row runs alone, and needs no mask."""


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """Rows laid out as one sequence, branch after branch.

    ``ids``, ``positions`` and ``nodes`` have an entry per token: its id, its position in its rows, and its
    branch. ``parents`` has one per branch: the branch that it continues, -1 for none. ``ends`` has one per
    row: the place of its last token in the sequence.
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


def make_tree(rows: Sequence[TokenRow], own: Sequence[int]) -> PrefixTree:
    """Lay out rows as a tree.

    Args:
        rows: token ids, at least one each.
        own: how many tokens at the end of each row are never shared, but stay on its own branch; at least 1.
    """
    tree = PrefixTree(ends=[0] * len(rows))
    limits = [len(row) - count for row, count in zip(rows, own, strict=True)]

    def add(parent: int, start: int, stop: int, row: TokenRow) -> int:
        if start == stop:  # nothing was shared beyond the parent
            return parent
        tree.parents.append(parent)
        tree.ids.extend(row[start:stop])
        tree.positions.extend(range(start, stop))
        tree.nodes.extend([len(tree.parents) - 1] * (stop - start))
        return len(tree.parents) - 1

    def grow(members: Sequence[int], parent: int, start: int) -> None:
        """Lay out the rest of some rows that agree on everything before ``start``."""
        if len(members) == 1:
            [index] = members
            add(parent, start, len(rows[index]), rows[index])
            tree.ends[index] = len(tree.ids) - 1
            return
        shared = common_prefix([rows[index][: limits[index]] for index in members])
        branch = max(shared - 1, start)
        node = add(parent, start, branch, rows[members[0]])
        branches: dict[object, list[int]] = {}
        for index in members:
            # Rows with the same next token share a branch; a row with only its own tokens left gets its own.
            key = rows[index][shared] if limits[index] > shared else (index,)
            branches.setdefault(key, []).append(index)
        for together in branches.values():
            grow(together, node, branch)

    grow(range(len(rows)), -1, 0)
    return tree


def added_tokens(row: TokenRow, own: int, other: TokenRow, others_own: int) -> int:
    """The number of tokens that a row adds to a tree of another one."""
    shared = common_prefix([row[: len(row) - own], other[: len(other) - others_own]])
    return len(row) - max(shared - 1, 0)


def pad(rows: Sequence[Sequence[float]], filler: float = -1) -> "torch.Tensor":
    """Rows of numbers as one tensor ``(rows, numbers)``, padded on the right."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=filler)


def lineage(parents: "torch.Tensor") -> "torch.Tensor":
    """The ancestors of each branch, itself included.

    Args:
        parents: the parents of the branches of each tree, ``(trees, branches)``, padded with -1.

    Returns:
        Boolean ``(trees, branches + 1, branches + 1)``; the last row is for padding, which is node -1.
    """
    import torch

    trees, branches = parents.shape
    above = torch.eye(branches + 1, device=parents.device).repeat(trees, 1, 1)
    tree, branch = (parents >= 0).nonzero(as_tuple=True)
    above[tree, branch, parents[tree, branch]] = 1
    for _ in range(branches.bit_length()):  # each step doubles how far a branch looks back
        above = (above @ above).clamp(max=1)
    return above.bool()


def tree_mask(nodes: "torch.Tensor", parents: "torch.Tensor") -> "torch.Tensor":
    """The attention mask of a batch of trees: tokens see earlier ones in their branch and its ancestors.

    Args:
        nodes: branch of each token, ``(trees, tokens)``; -1 is padding.
        parents: the parents of the branches, on the same device, ``(trees, branches)``, padded with -1.

    Returns:
        Boolean ``(trees, 1, tokens, tokens)``, on that device. Padding attends to padding only: without any
        true entry a row of the mask would give NaN.
    """
    import torch

    trees, width = nodes.shape
    tree = torch.arange(trees, device=nodes.device)[:, None, None]
    mask = lineage(parents)[tree, nodes[:, :, None], nodes[:, None, :]]
    mask &= torch.ones(width, width, dtype=torch.bool, device=nodes.device).tril_()
    return mask.unsqueeze(1)


def can_share(model: Any) -> bool:
    """Whether a model supports trees: rotary positions, and full attention with a custom mask.

    Sliding windows, recurrent layers and fixed position biases depend on the place in the sequence, which in
    a tree is not the place in the row.
    """
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    recurrent = any(hasattr(config, name) for name in ("layers_block_type", "block_types", "ssm_cfg"))
    return (
        kinds == {"full_attention"}
        and not recurrent
        and not getattr(config, "sliding_window", None)
        and getattr(config, "rope_parameters", None) is not None
        and config._attn_implementation in ("sdpa", "block_sparse")
    )
