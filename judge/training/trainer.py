"""TRL's trainers, fed with rows that were tokenized and fitted as judging does it.

A judge's row is nearly all prompt: a verdict has two or three tokens with a loss after hundreds without.
So SFT runs the LM head on label positions alone: the head of a small model costs as much as a quarter of
its layers. The loss is TRL's: the mean over all label tokens of the step.
"""

from typing import Any

import torch
from torch.nn.functional import cross_entropy
from trl import DPOTrainer, SFTTrainer

from judge.training.data import IGNORED


class JudgeSFTTrainer(SFTTrainer):
    """Token-mean cross-entropy over label positions; takes what :class:`SharedCollator` makes."""

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        """Loss of one micro-batch; ``num_items_in_batch`` counts the label tokens of the whole step."""
        targets = inputs["labels"][:, 1:]
        # Columns in which any row of the batch has a label; a token is predicted one position before it.
        columns = (targets != IGNORED).any(0).nonzero().squeeze(1)
        outputs = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            position_ids=inputs["position_ids"],
            logits_to_keep=columns,
            use_cache=False,
        )
        chosen = targets[:, columns]
        loss = cross_entropy(
            outputs.logits.float().flatten(0, 1), chosen.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        count = (chosen != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        loss = loss / torch.as_tensor(count, device=loss.device).clamp(min=1)
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            loss = loss * self.accelerator.num_processes
        return (loss, outputs) if return_outputs else loss


class JudgeDPOTrainer(DPOTrainer):
    """TRL's DPO on pairs that already hold ``prompt_ids``, ``chosen_ids`` and ``rejected_ids``."""

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        """Nothing is left to tokenize, and nothing may be truncated."""
        return dataset
