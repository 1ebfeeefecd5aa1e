"""Shared by the trainers of encoders: rows that are whole batches, splits, and judging during training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import Trainer

from judge.checker import Checker
from judge.encoder.examples import UNKNOWN
from judge.errors import InputError, counted
from judge.progress import say
from judge.samples import read_samples
from judge.training.config import RunConfig
from judge.training.launch import use_one_gpu
from judge.types import Sample, Verdict

FEW = 150
"""Labelled answers from which an encoder judge gained on both domains it was trained further on
(docs/research/new-domains.md)."""


class BatchTrainer(Trainer):
    """Base class of the trainers of encoders.

    Args:
        token_weight: weight of the loss on answer tokens; the loss on answers has weight 1.
        settings: settings of transformers' trainer.
    """

    def __init__(self, *, token_weight: float, **settings: Any):
        use_one_gpu(settings["args"])
        super().__init__(**settings)
        self.token_weight = token_weight

    def with_tokens(
        self, loss: torch.Tensor, by_token: torch.Tensor | None, wrong: torch.Tensor
    ) -> torch.Tensor:
        """The loss on answers, plus the weighted one on the tokens whose labels are known (not -1)."""
        known = wrong != UNKNOWN
        if not self.token_weight or by_token is None or not known.any():
            return loss
        return loss + self.token_weight * binary_cross_entropy_with_logits(by_token[known], wrong[known])

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], prediction_loss_only: bool, ignore_keys: Any = None
    ) -> tuple[torch.Tensor, None, None]:
        """The loss of one batch."""
        with torch.no_grad():
            return self.compute_loss(model, self._prepare_inputs(inputs)).detach(), None, None


def read_splits(file: Path) -> dict[str, list[Sample]]:
    """The labelled samples of a data set by split."""
    splits: dict[str, list[Sample]] = {"train": [], "validation": []}
    for sample in read_samples(file, check_ids=False):
        split = str(sample.meta.get("split", "train"))
        if sample.label is not None and split in splits:
            splits[split].append(sample)
    return splits


def refuse_no_validation(recipe: RunConfig, held_out: Sequence[Any], file: Path) -> None:
    """Raise ``InputError`` if a recipe asks for evaluations and nothing is held out for them."""
    if recipe.evaluations and not held_out:
        raise InputError(
            "holds no labelled validation sample; set evaluations: 0, or build with splits.validation",
            file=file,
        )


def note_few_answers(answers: int) -> None:
    """Say so if an encoder judge is trained further on fewer answers than pay."""
    if answers < FEW:
        say(
            f"note: {counted(answers, 'answer')} to learn from. On two domains {FEW} labelled answers raised "
            "AUROC by two to four points and 500 by five to nine; fewer helped on only one of them. Label "
            "more if you can"
        )


def judge_live(network: torch.nn.Module, judge: Checker, samples: Sequence[Sample]) -> list[Verdict]:
    """Verdicts of a judge whose network is in training; training is not affected."""
    training = network.training
    network.eval()
    verdicts = judge.check(samples)
    network.train(training)
    return verdicts
