"""Measures a judge during training: validation samples, judged by the current model.

The loss says little about a judge, because nearly all of it may come from the wording of reasonings. So every
evaluation also asks for verdicts, as a user would, and measures those.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.backends.transformers import BATCH_TOKENS, TransformersBackend
from judge.errors import counted
from judge.files import read_jsonl
from judge.judge import Judge
from judge.models.prefix_tree import PrefixTree
from judge.models.weights import LoadedModel
from judge.samples import read_samples
from judge.training.arguments import sharding
from judge.training.config import TrainingConfig
from judge.types import Label, Sample, Verdict

if TYPE_CHECKING:
    import torch

MEASURES = {"balanced_accuracy": "balanced accuracy", "auroc": "AUROC", "coverage": "coverage"}
"""Measures of verdicts, and their names for people."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation: its step, the validation loss, the number of judged samples, and the measures.

    Measures are shares from 0 to 1; ``balanced_accuracy`` and ``auroc`` are ``None`` if the samples are all
    of one class.
    """

    step: int
    loss: float | None = None
    samples: int = 0
    balanced_accuracy: float | None = None
    auroc: float | None = None
    coverage: float | None = None

    def better_than(self, other: "Evaluation | None") -> bool:
        """Compare by balanced accuracy, then AUROC, then loss; of two equals the earlier stays the best."""
        return other is None or self._rank() > other._rank()

    def _rank(self) -> tuple[float, float, float]:
        loss = math.inf if self.loss is None or math.isnan(self.loss) else self.loss
        return self.balanced_accuracy or 0.0, self.auroc or 0.0, -loss

    def to_dict(self) -> dict[str, Any]:
        """The known values, for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        parts = [] if self.loss is None else [f"validation loss {self.loss:.4f}"]
        if self.samples:
            parts.append(f"{counted(self.samples, 'sample')} judged")
        known = self.to_dict()
        parts += [f"{title} {100 * known[name]:.1f} %" for name, title in MEASURES.items() if name in known]
        return f"step {self.step}: {', '.join(parts)}"


def validation_samples(folder: Path, count: int) -> list[Sample]:
    """Labelled validation samples of a data set, drawn by whole documents, so that pairs stay together.

    Args:
        folder: a built data set. Samples that name no split belong to the validation split if
            ``sft/validation.jsonl`` has a row of their group.
        count: documents are drawn, always the same ones, until there are at least this many samples.

    Returns:
        The samples in the order of the data set; empty if it has no ``samples.jsonl``.
    """
    file, rows = folder / "samples.jsonl", folder / "sft" / "validation.jsonl"
    if not count or not file.is_file():
        return []
    groups = {row.get("group") for _, row in read_jsonl(rows)} if rows.is_file() else set()
    documents: dict[str, list[Sample]] = {}
    for sample in read_samples(file, check_ids=False):
        split = sample.meta.get("split") or ("validation" if sample.group in groups else None)
        if split == "validation" and sample.label is not None:
            documents.setdefault(sample.group, []).append(sample)
    chosen: set[str] = set()
    drawn = 0
    for group in sorted(documents, key=lambda group: sha256(group.encode()).hexdigest()):
        if drawn >= count:
            break
        chosen.add(group)
        drawn += len(documents[group])
    return [sample for group, samples in documents.items() if group in chosen for sample in samples]


def measure(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The :data:`MEASURES` that can be computed, from 0 to 1; a sample without a verdict counts as wrong."""
    from sklearn.metrics import roc_auc_score

    if not samples:
        return {}
    scored = [verdict.p_fail is not None and math.isfinite(verdict.p_fail) for verdict in verdicts]
    found = {"coverage": sum(scored) / len(samples)}
    right: dict[Label | None, list[bool]] = {}
    for sample, verdict, known in zip(samples, verdicts, scored, strict=True):
        right.setdefault(sample.label, []).append(known and verdict.label is sample.label)
    if len(right) == len(Label):
        found["balanced_accuracy"] = sum(sum(hits) / len(hits) for hits in right.values()) / len(right)
    gold = [sample.label is Label.FAIL for sample, known in zip(samples, scored, strict=True) if known]
    if len(set(gold)) == len(Label):
        scores = [verdict.p_fail for verdict, known in zip(verdicts, scored, strict=True) if known]
        found["auroc"] = float(roc_auc_score(gold, scores))
    return found


class _LiveBackend(TransformersBackend):
    """The engine around a model in training."""

    def __init__(self, trainer: Any, loaded: LoadedModel, batch_tokens: int):
        super().__init__(loaded, batch_tokens=batch_tokens)
        self.trainer = trainer

    def _forward(self, trees: Sequence[PrefixTree], places: "torch.Tensor") -> "torch.Tensor":
        """Logits under the trainer's own autocast.

        Not in inference mode: weights gathered from several processes in it could not be trained afterwards.
        """
        import torch

        with torch.inference_mode(False), torch.no_grad(), self.trainer.compute_loss_context_manager():
            return super()._forward(trees, places)


def judge_live(
    trainer: Any, tokenizer: Any, recipe: TrainingConfig, samples: Sequence[Sample]
) -> list[Verdict]:
    """Verdicts of the model in training, with adapters on; training is not affected.

    Every process has to call this. Processes that hold a whole model each judge a part of the samples. If the
    model is sharded (ZeRO-3, FSDP), a forward pass involves all processes, so each judges all samples.
    """
    import torch

    accelerator, model = trainer.accelerator, trainer.model
    part = slice(None)
    if accelerator.num_processes > 1 and sharding() not in ("fsdp", "zero3"):
        part = slice(accelerator.process_index, None, accelerator.num_processes)
    training = model.training
    devices = [accelerator.device] if accelerator.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        loaded = LoadedModel(model, tokenizer, recipe.model, None, recipe.max_length)
        batch_tokens = min(BATCH_TOKENS, recipe.max_length * recipe.batch_size)  # fits, since training fits
        verdicts = Judge(_LiveBackend(trainer, loaded, batch_tokens)).check(samples[part])
    model.train(training)
    if part == slice(None):
        return verdicts
    everywhere: list[Any] = [None] * accelerator.num_processes
    torch.distributed.all_gather_object(everywhere, verdicts)
    joined: list[Any] = [None] * len(samples)
    for process, own in enumerate(everywhere):
        joined[process :: accelerator.num_processes] = own
    return joined
