"""Shared by the trainers of encoders: rows that are whole batches, splits, and judging during training."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import Trainer, TrainingArguments

from judge.checker import Checker
from judge.encoder.examples import UNKNOWN
from judge.encoder.folder import WEIGHTS
from judge.errors import InputError, JudgeError, counted
from judge.models.identity import ENCODER, SECOND
from judge.progress import say
from judge.samples import read_samples
from judge.training.arguments import make_arguments, run_arguments
from judge.training.config import EncoderRecipe
from judge.training.launch import use_one_gpu
from judge.training.models import data_file
from judge.types import Sample, Verdict

FEW = 150
"""Labelled answers from which an encoder judge gained on both domains it was trained further on
(docs/research/new-domains.md)."""


class BatchTrainer(Trainer):
    """Base class of the trainers of encoders, of whose data each row is a whole batch.

    Args:
        network: what is trained.
        recipe: the training recipe.
        rows: the batches to train on.
        held_out: the batches to evaluate on; may be empty.
        collate: makes tensors of a batch.
        save: writes the judge of a network into a folder.
        callbacks: further callbacks for transformers' trainer.

    Raises:
        InputError: if the recipe asks for evaluations and nothing is held out for them.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        recipe: EncoderRecipe,
        rows: list[Any],
        held_out: list[Any],
        *,
        collate: Callable[[Any], dict[str, Any]],
        save: Callable[[Any, Path], None],
        callbacks: Sequence[Any] = (),
    ):
        if recipe.evaluations and not held_out:
            raise InputError(
                "holds no labelled validation sample; set evaluations: 0, or build with splits.validation",
                file=data_file(recipe, "samples.jsonl"),
            )
        settings = run_arguments(recipe, len(rows), 1)
        arguments = make_arguments(TrainingArguments, recipe, **settings, label_names=["fail"])
        use_one_gpu(arguments)
        super().__init__(
            model=network,
            args=arguments,
            train_dataset=rows,
            eval_dataset=held_out or None,
            data_collator=collate,
            callbacks=list(callbacks),
        )
        self.token_weight, self.save = recipe.token_weight, save

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


def note_few_answers(known: Mapping[str, Any], answers: int) -> None:
    """Say so if an encoder judge, whose ``judge.json`` is ``known``, learns from fewer answers than pay."""
    if answers >= FEW or known.get("stage") != ENCODER or SECOND in known:  # its second encoder has said so
        return
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
