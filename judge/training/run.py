"""A training run from its first step, or its last checkpoint, to the finished judge."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from signal import SIGTERM
from typing import Any

from judge import progress
from judge.errors import InputError
from judge.files import JUDGE_FILE, write_json, write_text
from judge.models.identity import SECOND
from judge.models.trained_on import fingerprint, read_trained_on, write_trained_on
from judge.samples import read_samples
from judge.training import checkpoints
from judge.training.arguments import sharding
from judge.training.card import judge_identity, model_card
from judge.training.config import RunConfig
from judge.training.models import leave_casts_to_autocast
from judge.training.stopping import Interrupted, StopSignals
from judge.training.validation import MEASURES, Evaluation, validation_samples
from judge.training.weights import link_folder, move_into, save_weights, saving_to
from judge.types import Sample, Verdict

Identify = Callable[[Any, dict[str, Any], dict[str, Any]], dict[str, Any]]
"""Recipe, summary and :func:`judge.training.checkpoints.describe_run` to the content of ``judge.json``."""
Ask = Callable[[Sequence[Sample]], list[Verdict]]
"""Judges samples with the model in training."""


def train_and_save(
    trainer: Any,
    recipe: RunConfig,
    summary: dict[str, Any],
    stage: str,
    ask: Ask,
    identify: Identify = judge_identity,
    logged: Sequence[str] = (),
) -> dict[str, Any]:
    """Run a trainer to its end and save the judge; returns the summary with the run's own figures added.

    Args:
        summary: counts of the training set.
        stage: ``sft``, ``dpo`` or ``encoder``, for ``judge.json`` and the card.
        ask: judges samples with the model in training.
        identify: makes the content of ``judge.json``.
        logged: figures of the trainer's log to keep with the losses.

    Raises:
        InputError: if the contents of the output folder cannot be resumed or would be lost, or if the launch
            config asks for sharding and accelerate does not shard.
        Interrupted: if a signal stopped the run; it can be resumed.
        JudgeError: if the loss became NaN or infinite, or the disk is full.
    """
    from transformers.trainer_callback import PrinterCallback

    from judge.training.callbacks import Durability, Shown, TimeLimit, Validation

    if sharding() and not (trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled):
        raise InputError(
            f"{sharding()} was asked for, but accelerate shards nothing on this device and would train as "
            "DDP; on a CPU launch with accelerate_configs/cpu_ddp.yaml"
        )
    leave_casts_to_autocast(trainer)
    output, main = Path(recipe.output), trainer.is_world_process_zero()
    run = checkpoints.describe_run(recipe, stage)
    start = checkpoints.resume_point(recipe, run)
    best = Evaluation(**start.best) if start and start.best else None
    trainer.accelerator.wait_for_everyone()
    if main and recipe.overwrite:
        checkpoints.remove_all(output)
    elif main:
        checkpoints.clean(output, None)
        if start:
            print(f"resuming from {start.folder}", flush=True)

    validation = Validation(trainer, recipe, samples_to_judge(recipe, main), ask, best)
    with StopSignals() as signals:
        durability = Durability(trainer, recipe, run, start, signals, lambda: validation.best)
        if recipe.max_minutes:  # before the evaluation, which belongs to the last step
            seconds, warmup = start.seconds if start else 0.0, recipe.trainer.get("warmup_steps", 0)
            trainer.add_callback(TimeLimit(recipe.max_minutes, seconds, warmup))
        trainer.add_callback(validation)
        trainer.add_callback(durability)
        trainer.remove_callback(PrinterCallback)
        try:
            limit = f", {recipe.max_minutes:g} minutes at most" if recipe.max_minutes else ""
            with progress.stage(f"train {output}{limit}") as update:
                trainer.add_callback(Shown(update))
                trainer.train(resume_from_checkpoint=str(start.folder) if start else None)
        except Exception:
            if durability.saving is None:
                raise
            with saving_to(durability.saving):
                raise
        if durability.stopped:
            raise Interrupted(
                f"stopped after step {trainer.state.global_step} of {trainer.state.max_steps}; "
                f"{output}/checkpoint-{trainer.state.global_step} keeps the state",
                signals.received or SIGTERM,
            )

        summary = {
            **summary,
            "steps": trainer.state.global_step,
            "epochs": round(trainer.state.epoch or 0.0, 2),
            "seconds": round(durability.seconds, 1),
            "losses": loss_history(trainer.state.log_history, logged),
        }
        if validation.best is not None:
            summary["best"] = {**validation.best.to_dict(), "kept": recipe.keep_best}
        save_judge(trainer, recipe, summary, run, identify)
    return summary


def samples_to_judge(recipe: RunConfig, main: bool) -> list[Any]:
    """The validation samples to judge; empty if the recipe asks for none or its data has none."""
    if not recipe.evaluations or not recipe.judged_samples:
        return []
    samples = validation_samples(Path(recipe.data), recipe.judged_samples)
    if main and not samples:
        print(
            f"{recipe.data} has no labelled validation samples; evaluations show the loss alone", flush=True
        )
    return samples


def save_judge(
    trainer: Any, recipe: RunConfig, summary: dict[str, Any], run: dict[str, Any], identify: Identify
) -> None:
    """Write weights, tokenizer, card and ``judge.json``; then remove the checkpoints.

    Files are written to a temporary folder and moved, ``judge.json`` last: a folder that has it is complete.
    Every process has to call this.
    """
    output = Path(recipe.output)
    ready = output / ".ready"
    best = summary.get("best", {})
    if not best.get("kept"):
        save_weights(trainer, ready)
    if trainer.is_world_process_zero():
        identity = identify(recipe, summary, run)
        with saving_to(ready):
            if best.get("kept"):
                link_folder(output / f"best-{best['step']}", ready)
            write_text(ready / "README.md", model_card(identity))
            write_trained_on(ready, documents_of(recipe, identity.get("languages")))
            (output / JUDGE_FILE).unlink(missing_ok=True)
            if SECOND not in identity:  # of an earlier judge in this folder
                checkpoints.remove(output / SECOND)
            move_into(output, ready)
        write_json(output / JUDGE_FILE, identity)
        checkpoints.sync(output)
        checkpoints.remove_all(output)
    trainer.accelerator.wait_for_everyone()


def documents_of(recipe: RunConfig, languages: Sequence[str] | None = None) -> set[bytes]:
    """Fingerprints of the documents in the training split of a recipe's data (in ``languages`` only, if
    given), and of those that the starting judge was trained on. Sources of weight 0 and data without
    ``samples.jsonl`` add none."""
    weights: Mapping[str, float] = getattr(recipe, "source_weights", {})
    found = {*read_trained_on(recipe.model)}
    file = Path(recipe.data) / "samples.jsonl"
    if file.is_file():
        for sample in read_samples(file, check_ids=False):
            seen = weights.get(sample.source, 1) and (languages is None or sample.language in languages)
            if seen and sample.meta.get("split", "train") == "train":
                found.add(fingerprint(sample.document_text))
    return found


def loss_history(history: list[dict[str, Any]], extra: Sequence[str] = ()) -> list[dict[str, float]]:
    """Losses, measures and ``extra`` figures of a run by step, from the trainer's log."""
    measures = [f"eval_{name}" for name in MEASURES]
    keys = ("step", "loss", "eval_loss", *measures, *extra)
    entries: list[dict[str, float]] = []
    for entry in history:
        found = {key: entry[key] for key in keys if key in entry}
        if any(name in entry for name in measures) and entries:  # logged right after the loss
            entries[-1].update(found)
        elif "loss" in entry or "eval_loss" in entry:
            entries.append(found)
    return entries
