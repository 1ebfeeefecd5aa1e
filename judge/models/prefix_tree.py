"""Exact prefix sharing: token rows that begin alike run as one tree, their common prefixes computed once.

A judge's rows are nearly all prompt, and the prompts about one document agree up to the question, those
about one question up to the answer, those of both modes up to the last instruction. A tree of such rows is
one sequence:

    [document][question 1][answer a][answer b][question 2][answer c]...

Position ids restart where a branch begins, and a mask lets a token attend to its own branch alone, so
every row is computed as if it stood by itself. Each branch begins with the last token of what it shares, so
that the token before a row's first own token always stands directly before it: the next-token labels and
the logits of a row then need no special case.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge.prompting.rendering import common_prefix

if TYPE_CHECKING:
    import torch

TokenRow = Sequence[int]

TREE_TOKENS = 16_384
"""The most tokens of a tree of several rows. Its mask has a byte for each two of them, a quarter of a GiB; a
row that is longer runs alone, and needs none."""


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """Rows laid out as one sequence, branch after branch.

    ``ids``, ``positions`` and ``nodes`` have an entry a token: its id, its place within its rows, and the
    number of the branch that it belongs to. ``parents`` has one a branch: the branch that it goes on from, -1
    where it begins. ``ends`` has one a row: where its last token stands in the sequence.
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
        own: how many tokens at the end of each row stand together on a branch of its own; at least 1.
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
            # Rows that go on alike share a branch; a row that has only its own tokens left has one alone.
            key = rows[index][shared] if limits[index] > shared else (index,)
            branches.setdefault(key, []).append(index)
        for together in branches.values():
            grow(together, node, branch)

    grow(range(len(rows)), -1, 0)
    return tree


def added_tokens(row: TokenRow, own: int, others: Sequence[TokenRow], others_own: Sequence[int]) -> int:
    """By how many tokens a tree of ``others`` grows with one more row."""
    limit = len(row) - own
    shared = 0
    for other, count in zip(others, others_own, strict=True):
        shared = max(shared, common_prefix([row[:limit], other[: len(other) - count]]))
    return len(row) - max(shared - 1, 0)


def pad_parents(parents: Sequence[Sequence[int]]) -> "torch.Tensor":
    """The parents of the branches of some trees as one tensor ``(trees, branches)``, filled up with -1."""
    import torch

    width = max(len(above) for above in parents)
    return torch.tensor([[*above, *[-1] * (width - len(above))] for above in parents])


def lineage(parents: "torch.Tensor") -> "torch.Tensor":
    """Which branches a branch goes on from, itself included.

    Args:
        parents: as :func:`pad_parents` makes them.

    Returns:
        Boolean ``(trees, branches + 1, branches + 1)``; the last line is that of padding, which is node -1.
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
    """The attention mask of a batch of trees: each token attends to those before it in its own branch.

    Args:
        nodes: branch of each token, ``(trees, tokens)``; -1 is padding.
        parents: the parents of the branches, on the same device; see :func:`pad_parents`.

    Returns:
        Boolean ``(trees, 1, tokens, tokens)``, on that device. Padding attends to padding alone: a row of
        a mask without any true entry would turn into NaN.
    """
    import torch

    trees, width = nodes.shape
    tree = torch.arange(trees, device=nodes.device)[:, None, None]
    mask = lineage(parents)[tree, nodes[:, :, None], nodes[:, None, :]]
    mask &= torch.ones(width, width, dtype=torch.bool, device=nodes.device).tril_()
    return mask.unsqueeze(1)


def can_share(model: Any) -> bool:
    """Does a model take trees: rotary positions, and full attention that obeys a mask of one's own?

    Sliding windows, recurrent layers and fixed position biases go by the place in the sequence, which in a
    tree is not the place in the row.
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
