"""Trains rows about one document in one sequence, as a prefix tree, with exactly the loss of separate rows.

See :mod:`judge.models.prefix_tree` for the layout.
"""

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from judge.models.attention import tree_attention
from judge.models.prefix_tree import TREE_TOKENS, PrefixTree, make_tree, pad
from judge.training.data import IGNORED, Example

if TYPE_CHECKING:
    import torch


LossMean = Literal["row", "token"]
"""What the loss averages over. ``token``: all label tokens, as in TRL. ``row``: the means of the rows, so
that a verdict of two tokens counts as much as a reasoning of sixty."""


def share(
    examples: Sequence[Example], sequence_tokens: int, loss_mean: LossMean = "row", join: bool = False
) -> list[dict[str, Any]]:
    """Pack SFT examples into sequences by group.

    Args:
        examples: rows with one completion each.
        sequence_tokens: longest sequence, at most :data:`TREE_TOKENS`. Larger groups are split, single rows
            never are.
        loss_mean: ``token`` gives each label token weight 1; with ``row`` the weights of a row add up to 1.
        join: fill each sequence with as many whole groups as fit, in the order of the examples. They share
            what their prompts begin with, the instructions.

    Returns:
        Rows with ``input_ids``, ``labels``, ``weights``, ``position_ids``, ``nodes`` (the branch of each
        token), ``parents`` (of each branch) and ``length``.
    """
    return [_pack(members, loss_mean) for members, _ in _together(examples, sequence_tokens, join)]


def _together(
    examples: Sequence[Example], sequence_tokens: int, join: bool
) -> Iterator[tuple[list[Example], int]]:
    """The rows of each sequence, and its length in tokens."""
    limit = min(sequence_tokens, TREE_TOKENS)
    pending: list[Example] = []
    length = 0
    for group in _by_group(examples).values():
        # Rows about the same version of a document are adjacent: a sequence computes every version it holds.
        members = sorted(group, key=lambda example: example.prompt)
        if join and pending and (joined := len(_tree([*pending, *members]).ids)) <= limit:
            pending += members
            length = joined
            continue
        if pending:
            yield pending, length
        pending = []
        for example in members:
            longer = len(_tree([*pending, example]).ids)
            if pending and longer > limit:
                yield pending, length
                pending, longer = [], example.length
            pending.append(example)
            length = longer
    if pending:
        yield pending, length


def shuffle_documents(examples: Sequence[Example], seed: int) -> list[Example]:
    """The rows document by document, in an order that depends on the seed alone."""
    groups = _by_group(examples)
    order = sorted(groups)
    random.Random(f"tokens:{seed}").shuffle(order)
    return [example for group in order for example in groups[group]]


def draw_documents(
    examples: Sequence[Example], sequence_tokens: int, max_tokens: int, seed: int, join: bool = False
) -> list[Example]:
    """Draw whole documents until ``max_tokens`` computed tokens are used; returns their rows in order.

    The seed decides which documents; the first one drawn is always taken.
    """
    shuffled = shuffle_documents(examples, seed)
    taken: set[str] = set()
    spent = 0
    for rows, tokens in _together(shuffled, sequence_tokens, join):
        spent += tokens
        if spent > max_tokens:
            taken -= {row.group for row in rows}  # a document may have begun in the sequence before
            break
        taken |= {row.group for row in rows}
    taken = taken or {shuffled[0].group}
    return [example for example in examples if example.group in taken]


def _by_group(examples: Sequence[Example]) -> dict[str, list[Example]]:
    groups: dict[str, list[Example]] = {}
    for example in examples:
        groups.setdefault(example.group, []).append(example)
    return groups


def _tree(examples: Sequence[Example]) -> PrefixTree:
    """Rows as a tree; none shares its completion, nor the token before it, which predicts the first."""
    rows = [(*example.prompt, *example.completions[0]) for example in examples]
    return make_tree(rows, [len(example.completions[0]) + 1 for example in examples])


def _pack(examples: Sequence[Example], loss_mean: LossMean) -> dict[str, Any]:
    tree = _tree(examples)
    labels = [IGNORED] * len(tree.ids)
    weights = [0.0] * len(tree.ids)
    for example, end in zip(examples, tree.ends, strict=True):
        completion = example.completions[0]
        begin = end + 1 - len(completion)
        labels[begin : end + 1] = completion
        weights[begin : end + 1] = [1 / len(completion) if loss_mean == "row" else 1.0] * len(completion)
    return {
        "input_ids": tree.ids,
        "labels": labels,
        "weights": weights,
        "position_ids": tree.positions,
        "nodes": tree.nodes,
        "parents": tree.parents,
        "length": len(tree.ids),
    }


def collate_sequences(rows: Sequence[dict[str, Any]], pad_id: int) -> "dict[str, torch.Tensor]":
    """Pad packed sequences.

    Returns ``input_ids``, ``labels`` and ``weights`` of shape ``(rows, tokens)``. If a sequence has branches,
    also ``position_ids`` and ``nodes`` of that shape, and ``parents``, from which :func:`branch_inputs` makes
    the attention mask on the training device. Single rows are padded on the right, so they need neither
    positions nor a mask, and attention uses its plain causal kernel.
    """
    parents = [row["parents"] for row in rows]
    fillers = {"input_ids": pad_id, "labels": IGNORED, "weights": 0.0}
    branches = any(len(above) > 1 for above in parents)
    if branches:
        fillers |= {"position_ids": 0, "nodes": -1}
    batch = {name: pad([row[name] for row in rows], filler) for name, filler in fillers.items()}
    if branches:
        batch["parents"] = pad(parents)
    return batch


def branch_inputs(model: Any, batch: "dict[str, torch.Tensor]") -> dict[str, Any]:
    """Attention mask and positions for a batch of :func:`collate_sequences` with branches; else empty."""
    if "nodes" not in batch:
        return {}
    mask = tree_attention(model, batch["nodes"], batch["parents"])
    return {"attention_mask": mask, "position_ids": batch["position_ids"]}
