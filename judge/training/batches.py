"""Shared by the trainers of encoders: rows that are whole batches, splits, and judging during training."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import Trainer

from judge.checker import Checker
from judge.encoder.examples import UNKNOWN
from judge.encoder.folder import WEIGHTS
from judge.errors import InputError, JudgeError, counted
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
        save: writes the judge of a network into a folder.
        settings: settings of transformers' trainer.
    """

    def __init__(self, *, token_weight: float, save: Callable[[Any, Path], None], **settings: Any):
        use_one_gpu(settings["args"])
        super().__init__(**settings)
        self.token_weight, self.save = token_weight, save

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

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        folder = Path(output_dir or str(self.args.output_dir))
        if folder.name.startswith("checkpoint-"):  # the weights in training, which adapters are a part of
            super()._save(output_dir, state_dict)
            return
        folder.mkdir(parents=True, exist_ok=True)
        self.save(self.accelerator.unwrap_model(self.model), folder)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        """Raise ``JudgeError`` for weights of other names, which transformers' own method would pass over."""
        network = self.model if model is None else model
        try:
            network.load_state_dict(load_file(Path(resume_from_checkpoint) / WEIGHTS))
        except (OSError, RuntimeError) as error:
            raise JudgeError(
                f"{resume_from_checkpoint}: holds no weights of this network (as of an earlier version); "
                "start again with overwrite=true"
            ) from error


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
            "AUROC by two to four points and 500 by five to ten; 50 did nothing where they were tried. "
            "Label more if you can"
        )


def judge_live(network: torch.nn.Module, judge: Checker, samples: Sequence[Sample]) -> list[Verdict]:
    """Verdicts of a judge whose network is in training; training is not affected."""
    training = network.training
    network.eval()
    verdicts = judge.check(samples)
    network.train(training)
    return verdicts
