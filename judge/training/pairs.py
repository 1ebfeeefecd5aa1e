"""Preference pairs as prefix trees: a chosen and a rejected judgement share their prompt, computed once.

In TRL's ``DPOTrainer`` a pair is two rows of prompt and completion, and a judge's rows are nearly all prompt.
Here a pair is one sequence ``[prompt][chosen][rejected]`` (see :mod:`judge.models.prefix_tree`). Its hidden
states are rearranged into the two rows that the trainer expects, reduced to their completions. TRL's own LM
head, losses and figures run on these, so all of its pairwise losses work and are exactly TRL's.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judge.models.attention import tree_attention
from judge.models.prefix_tree import TREE_TOKENS, make_tree, pad

if TYPE_CHECKING:
    import torch

REFERENCE = ("ref_chosen_logps", "ref_rejected_logps")
"""Columns of precomputed reference log-probabilities."""


def collate_pairs(pairs: Sequence[dict[str, Any]], pad_id: int) -> "dict[str, torch.Tensor]":
    """Make a batch of pairs, each with ``prompt_ids``, ``chosen_ids`` and ``rejected_ids``.

    Returns tensors for :func:`share_prompts`. ``input_ids``, ``completion_mask`` and ``columns`` have
    ``2 * pairs`` rows, first the chosen, then the rejected ones: a completion and the token before it, with
    ``columns`` giving the position of each token in the tree of its pair. Of the ``pairs`` trees there are
    ``tree_ids``, ``tree_positions``, ``tree_nodes``, ``tree_parents`` (the mask is made from these on the
    training device), and ``attention_mask``, which is 1 on tokens and 0 on padding.

    If a pair has more than :data:`TREE_TOKENS` tokens, TRL's own collator makes the batch: two rows per pair.
    """
    import torch

    sides = [[list(pair[name]) for pair in pairs] for name in ("chosen_ids", "rejected_ids")]
    trees = [
        make_tree(
            [pair["prompt_ids"] + chosen, pair["prompt_ids"] + rejected],
            [len(chosen) + 1, len(rejected) + 1],
        )
        for pair, chosen, rejected in zip(pairs, *sides, strict=True)
    ]
    if any(len(tree.ids) > TREE_TOKENS for tree in trees):
        from trl.trainer.dpo_trainer import DataCollatorForPreference

        rows_of_pairs: dict[str, torch.Tensor] = DataCollatorForPreference(pad_id)([*pairs])
        return rows_of_pairs
    completions = sides[0] + sides[1]
    ends = [tree.ends[0] for tree in trees] + [tree.ends[1] for tree in trees]
    rows = [
        [pair["prompt_ids"][-1], *completion]
        for pair, completion in zip([*pairs, *pairs], completions, strict=True)
    ]
    columns = [list(range(end + 1 - len(row), end + 1)) for row, end in zip(rows, ends, strict=True)]
    nodes = pad([tree.nodes for tree in trees])
    batch = {
        "input_ids": pad(rows, pad_id),
        "completion_mask": pad([[0] + [1] * len(completion) for completion in completions], 0),
        "columns": pad(columns, 0),
        "tree_ids": pad([tree.ids for tree in trees], pad_id),
        "tree_positions": pad([tree.positions for tree in trees], 0),
        "tree_nodes": nodes,
        "tree_parents": pad([tree.parents for tree in trees]),
        "attention_mask": (nodes >= 0).long(),
    }
    for name in REFERENCE:
        if name in pairs[0]:
            batch[name] = torch.tensor([pair[name] for pair in pairs])
    return batch


def share_prompts(model: Any) -> None:
    """Make a causal language model accept the batches of :func:`collate_pairs`.

    Its layers then run on the trees and return the hidden states of ``input_ids``. Batches without trees run
    as before. Call this before a trainer wraps the model.
    """
    model = getattr(model, "get_base_model", lambda: model)()  # without an adapter around it
    backbone = model.base_model
    own_forward = backbone.forward

    def forward(*args: Any, **inputs: Any) -> Any:
        if "tree_ids" not in inputs:
            return own_forward(*args, **inputs)
        columns = inputs.pop("columns")
        inputs["input_ids"] = inputs.pop("tree_ids")
        inputs["position_ids"] = inputs.pop("tree_positions")
        inputs["attention_mask"] = tree_attention(model, inputs.pop("tree_nodes"), inputs.pop("tree_parents"))
        output = own_forward(*args, **inputs)
        trees = output.last_hidden_state
        # All chosen rows come first, then all rejected ones, so the tree of row i is i modulo their number.
        tree_of = columns.new_tensor(range(len(columns))).unsqueeze(1) % len(trees)
        output.last_hidden_state = trees[tree_of, columns]
        return output

    backbone.forward = forward
