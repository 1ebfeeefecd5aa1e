"""Exact prefix sharing: rows that begin alike train in one sequence, their common prefix computed once.

The rows of one document (several questions, gold answer and perturbed twin, verdict and reason mode) agree
up to the question. They become ``[prefix][rest of row 1][rest of row 2]...``; position ids restart after
the prefix, and a mask hides the rows from each other. Each rest begins with the last token of the
prefix, so that the token before a row's first own token always stands directly before it: next-token labels
then need no special case, and the loss is exactly that of separate rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge.rendering import common_prefix
from judge.training.data import IGNORED, Example

if TYPE_CHECKING:
    import torch


def share(examples: Sequence[Example], sequence_tokens: int) -> list[dict[str, Any]]:
    """Pack SFT examples into sequences by group.

    Args:
        examples: rows with one completion each.
        sequence_tokens: longest sequence; a group that needs more is split, a single row never is.

    Returns:
        Rows with ``input_ids``, ``labels``, ``weights``, ``position_ids`` and ``segments``; a segment is the
        number of a row within its sequence, from 1, and 0 on the shared prefix; the weights of a row's label
        tokens add up to 1.
    """
    groups: dict[str, list[Example]] = {}
    for example in examples:
        groups.setdefault(example.group, []).append(example)
    sequences = []
    for members in groups.values():
        pending: list[Example] = []
        for example in members:
            if pending and _length([*pending, example]) > sequence_tokens:
                sequences.append(_pack(pending))
                pending = []
            pending.append(example)
        sequences.append(_pack(pending))
    return sequences


def _prefix(examples: Sequence[Example]) -> int:
    """Tokens before the point where the rows part, less the one that each repeats."""
    if len(examples) == 1:
        return 0
    # A prompt's last token predicts the completion, so at least that one is each row's own.
    return max(common_prefix([example.prompt for example in examples]) - 1, 0)


def _length(examples: Sequence[Example]) -> int:
    prefix = _prefix(examples)
    return prefix + sum(len(row.prompt) + len(row.completions[0]) - prefix for row in examples)


def _pack(examples: Sequence[Example]) -> dict[str, Any]:
    prefix = _prefix(examples)
    ids = list(examples[0].prompt[:prefix])
    labels = [IGNORED] * prefix
    positions = list(range(prefix))
    segments = [0] * prefix
    weights = [0.0] * prefix
    for number, row in enumerate(examples, start=1):
        rest, completion = row.prompt[prefix:], row.completions[0]
        ids += [*rest, *completion]
        labels += [IGNORED] * len(rest) + list(completion)
        positions += range(prefix, prefix + len(rest) + len(completion))
        segments += [number] * (len(rest) + len(completion))
        weights += [0.0] * len(rest) + [1 / len(completion)] * len(completion)
    return {
        "input_ids": ids,
        "labels": labels,
        "weights": weights,
        "position_ids": positions,
        "segments": segments,
    }


@dataclass
class SharedCollator:
    """Pads packed sequences and makes their block mask.

    Returns ``input_ids``, ``labels``, ``weights``, ``position_ids`` of shape ``(rows, tokens)`` and a boolean
    ``attention_mask`` of shape ``(rows, 1, tokens, tokens)`` that is true where a token may look.
    """

    pad_id: int

    def __call__(self, rows: Sequence[dict[str, Any]]) -> "dict[str, torch.Tensor]":
        """Collate one batch."""
        import torch

        width = max(len(row["input_ids"]) for row in rows)
        fillers = {
            "input_ids": self.pad_id,
            "labels": IGNORED,
            "weights": 0.0,
            "position_ids": 0,
            "segments": -1,
        }
        batch = {
            name: torch.tensor([row[name] + [filler] * (width - len(row[name])) for row in rows])
            for name, filler in fillers.items()
        }
        segments = batch.pop("segments")
        queries, keys = segments.unsqueeze(2), segments.unsqueeze(1)
        causal = torch.ones(width, width, dtype=torch.bool).tril()
        # Padding sees itself alone: a row of a mask without any true entry would turn into NaN.
        mask = causal & ((queries == keys) | ((keys == 0) & (queries > 0)))
        batch["attention_mask"] = mask.unsqueeze(1)
        return batch
