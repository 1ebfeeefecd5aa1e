"""transformers' trainer for data sets whose rows are whole batches."""

from typing import Any

import torch
from transformers import Trainer


class BatchTrainer(Trainer):
    """What the trainers of encoders have in common.

    Args:
        token_weight: weight of the loss on the answers' tokens beside that on answers.
        settings: of transformers' trainer.
    """

    def __init__(self, *, token_weight: float, **settings: Any):
        super().__init__(**settings)
        self.token_weight = token_weight

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], prediction_loss_only: bool, ignore_keys: Any = None
    ) -> tuple[torch.Tensor, None, None]:
        """The loss of one batch."""
        with torch.no_grad():
            return self.compute_loss(model, self._prepare_inputs(inputs)).detach(), None, None
