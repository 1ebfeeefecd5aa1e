"""TRL's trainers, fed with rows that were tokenized and fitted as judging does it.

A judge's row is nearly all prompt: a verdict has two or three tokens with a loss after hundreds without.
So SFT runs the LM head on label positions alone: the head of a small model costs as much as a quarter of
its layers.
"""

from typing import Any, Literal

import torch
from torch.nn.functional import cross_entropy
from trl import DPOTrainer, SFTTrainer

from judge.heads import float32_head
from judge.training.data import IGNORED


class JudgeSFTTrainer(SFTTrainer):
    """Cross-entropy over label positions; takes what :class:`judge.training.sharing.SharedCollator` makes.

    Args:
        loss_mean: ``token`` is TRL's loss, the mean over all label tokens of a step. ``row`` is the mean over
            rows of each row's mean, so that a verdict of two tokens counts as much as a reasoning of sixty.
    """

    def __init__(self, *args: Any, loss_mean: Literal["row", "token"], **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.loss_mean = loss_mean
        if loss_mean == "row":  # micro-batches are then averaged, not weighted by their label tokens
            self.model_accepts_loss_kwargs = False

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
        with float32_head(self.accelerator.unwrap_model(model)):
            outputs = model(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                position_ids=inputs["position_ids"],
                logits_to_keep=columns,
                use_cache=False,
            )
        chosen = targets[:, columns]
        losses = cross_entropy(
            outputs.logits.float().flatten(0, 1), chosen.flatten(), ignore_index=IGNORED, reduction="none"
        )
        if self.loss_mean == "row":
            weights = inputs["weights"][:, 1:][:, columns].flatten()
            loss = (losses * weights).sum() / weights.sum().clamp(min=1)
        else:
            count = (chosen != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
            loss = losses.sum() / torch.as_tensor(count, device=losses.device).clamp(min=1)
            if self.args.average_tokens_across_devices and num_items_in_batch is not None:
                loss = loss * self.accelerator.num_processes
        return (loss, outputs) if return_outputs else loss


class JudgeDPOTrainer(DPOTrainer):
    """TRL's DPO on pairs that already hold ``prompt_ids``, ``chosen_ids`` and ``rejected_ids``."""

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        """Nothing is left to tokenize, and nothing may be truncated."""
        return dataset
