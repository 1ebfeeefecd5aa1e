"""TRL's trainers, on rows that were tokenized and shortened exactly as when judging.

A judge's row is nearly all prompt: two or three verdict tokens with a loss follow hundreds without. So SFT
runs the LM head only on label positions: a small model's head costs as much as a quarter of its layers.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import Sampler
from transformers import EvalPrediction, Trainer
from transformers.training_args import OptimizerNames
from trl import DPOTrainer, SFTTrainer
from trl.trainer import dpo_trainer

from judge.models.heads import read_logits
from judge.training.data import IGNORED
from judge.training.launch import use_one_gpu
from judge.training.lion import Lion
from judge.training.sharing import branch_inputs

REFERENCE_ADAPTER = "ref"
"""TRL's name for the frozen copy of the adapter that DPO starts from."""

POOL = 64
"""Batches in a pool: rows are shuffled, cut into pools, and sorted by length within each pool."""


class LengthSampler(Sampler[int]):
    """A random order in which neighbours have similar lengths, so that batches need little padding.

    The order depends only on arguments and epoch: it stays the same after resuming, or in more processes.

    Args:
        lengths: tokens of each row.
        batch: rows of one batch, over all processes.
        seed: of the order.
    """

    def __init__(self, lengths: Sequence[int], batch: int, seed: int):
        self.lengths, self.batch, self.seed, self.epoch = lengths, batch, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Switch to the order of another epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(1_000_003 * self.seed + self.epoch)

        def shuffled(count: int) -> list[int]:
            return torch.randperm(count, generator=generator).tolist()

        order = shuffled(len(self.lengths))
        batches: list[list[int]] = []
        for start in range(0, len(order), POOL * self.batch):
            pool = sorted(order[start : start + POOL * self.batch], key=lambda row: -self.lengths[row])
            batches += [pool[at : at + self.batch] for at in range(0, len(pool), self.batch)]
        # A batch with fewer rows than the others has to stay the last one.
        last = batches.pop() if batches and len(batches[-1]) < self.batch else []
        for index in shuffled(len(batches)):
            yield from batches[index]
        yield from last


class _Judge:
    """Shared by both trainers: one GPU per process, batches of similar length, no model card of TRL's."""

    args: Any  # the length of a row is in its column ``length``
    train_dataset: Any

    def __init__(self, **settings: Any):
        use_one_gpu(settings["args"])
        super().__init__(**settings)

    def _get_train_sampler(self, train_dataset: Any = None) -> LengthSampler:
        rows = self.train_dataset if train_dataset is None else train_dataset
        batch = self.args.train_batch_size * self.args.world_size
        return LengthSampler(list(rows["length"]), batch, self.args.data_seed)

    @staticmethod
    def get_optimizer_cls_and_kwargs(args: Any, model: Any = None) -> tuple[Any, dict[str, Any]]:
        """transformers' choice, except for Lion: FSDP cannot shard that of bitsandbytes."""
        if args.optim == OptimizerNames.LION:
            return Lion, {"lr": args.learning_rate, "betas": (args.adam_beta1, args.adam_beta2)}
        return Trainer.get_optimizer_cls_and_kwargs(args, model)

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Do nothing: TRL's card would overwrite that of an earlier judge at every checkpoint."""


class JudgeSFTTrainer(_Judge, SFTTrainer):
    """Cross-entropy over label positions, for batches of :func:`judge.training.sharing.collate_sequences`.

    The loss of a step is the weighted mean over all its label tokens, of all processes and accumulated
    micro-batches; the loss of an evaluation is the weighted mean over the whole split.
    """

    def __init__(self, **settings: Any):
        super().__init__(compute_metrics=mean_loss, **settings)
        self.loss_is_scaled_for_ga = True  # each micro-batch is divided by the weights of the whole step

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> torch.Tensor:
        """The sum of the weights of all label tokens of a step."""
        weight = torch.stack([batch["weights"].sum() for batch in batch_samples]).sum().to(device)
        return self.accelerator.gather(weight).sum()

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | None = None,
    ) -> Any:
        """Loss of one micro-batch; ``num_items_in_batch`` is the label tokens' weight in the whole step."""
        losses, weights, outputs = weighted_losses(self.accelerator, model, inputs)
        if num_items_in_batch is None:
            loss = losses.sum() / weights.sum()
        else:  # gradients are averaged over processes, and each has divided by the total weight
            loss = losses.sum() * (self.accelerator.num_processes / num_items_in_batch)
        return (loss, outputs) if return_outputs else loss

    def prediction_step(
        self, model: Any, inputs: dict[str, torch.Tensor], *_: Any, **__: Any
    ) -> tuple[None, torch.Tensor, torch.Tensor]:
        """Not the loss, but each row's sums from which :func:`mean_loss` computes it.

        A mean of batch means would depend on the composition of batches and the number of processes.
        """
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            losses, weights, _outputs = weighted_losses(self.accelerator, model, inputs)
        return None, losses.sum(1), weights.sum(1)


def weighted_losses(
    accelerator: Any, model: Any, inputs: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor, Any]:
    """Weighted losses and weights, both of shape (rows, tokens), and the model's outputs."""
    targets = inputs["labels"].roll(-1, 1)  # a token is predicted one position before it
    targets[:, -1] = IGNORED
    labelled = targets != IGNORED
    plain = accelerator.unwrap_model(model)
    with accelerator.autocast():  # a mask in another format would be copied in every layer
        branches = branch_inputs(plain, inputs)
    logits, outputs = read_logits(model, plain, labelled, input_ids=inputs["input_ids"], **branches)
    weights = inputs["weights"].roll(-1, 1) * labelled
    losses = cross_entropy(logits, targets[labelled], reduction="none") * weights[labelled]
    return torch.zeros_like(weights).masked_scatter(labelled, losses), weights, outputs


def mean_loss(evaluation: EvalPrediction) -> dict[str, float]:
    """The loss of an evaluation, from each row's sum of weighted losses and sum of weights."""
    return {"loss": float(evaluation.predictions.sum() / evaluation.label_ids.sum())}


class JudgeDPOTrainer(_Judge, DPOTrainer):
    """TRL's DPO on pairs that already hold ``prompt_ids``, ``chosen_ids`` and ``rejected_ids``.

    The LM head runs in float32 (see :mod:`judge.models.heads`), the reference's too.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        own = dpo_trainer.add_fused_lm_head
        # TRL supports this, but DPOConfig has no argument for it, and __init__ may compute the reference.
        dpo_trainer.add_fused_lm_head = partial(own, cast_lm_head_to_fp32=True)
        try:
            super().__init__(*args, **kwargs)
        finally:
            dpo_trainer.add_fused_lm_head = own

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save only the adapter in training: the reference copy is made again from the starting adapter."""
        model = self.accelerator.unwrap_model(self.model)
        if REFERENCE_ADAPTER not in getattr(model, "peft_config", {}):
            super()._save(output_dir, state_dict)
            return
        own = model.save_pretrained
        model.save_pretrained = partial(own, selected_adapters=[model.active_adapter])
        try:
            super()._save(output_dir, state_dict)
        finally:
            del model.save_pretrained  # restores the method of the class

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        """Return the data set as it is: rows are tokenized already, and must not be truncated."""
        return dataset
