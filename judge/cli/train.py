"""``judge sft``, ``judge dpo`` and ``judge encoder``: read a recipe, train, print where the judge is."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from judge.cli.start import DEMO, prepare
from judge.configs import load_config
from judge.errors import InputError, require
from judge.files import locked
from judge.progress import first_process
from judge.shipped import find_recipe
from judge.training.checkpoints import describe_run, finished_run, resume_point
from judge.training.config import DPORecipe, EncoderRecipe, RunConfig, SFTRecipe
from judge.training.launch import obey_launcher

Recipe = TypeVar("Recipe", bound=RunConfig)
WORDS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RECIPE] [KEY=VALUE]...",
        help="A YAML file or a name from judge recipes; keys to override, as learning_rate=1e-4.",
    ),
]
RESUME = Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint (resume=true).")]
OVERWRITE = Annotated[
    bool, typer.Option("--overwrite", help="Replace the judge in the output (overwrite=true).")
]


def sft_command(words: WORDS = None, resume: RESUME = False, overwrite: OVERWRITE = False) -> None:
    """Fine-tune a language model as a judge, on a built data set.

    On several GPUs: accelerate launch --config_file accelerate_configs/ddp.yaml -m judge sft RECIPE
    """
    require("judge sft", "train", *TRL)
    from judge.training.sft import train_sft

    run_recipe(SFTRecipe, train_sft, words or (), resume, overwrite)


def dpo_command(words: WORDS = None, resume: RESUME = False, overwrite: OVERWRITE = False) -> None:
    """Train a fine-tuned judge further by Direct Preference Optimization (DPO).

    On several GPUs: accelerate launch --config_file accelerate_configs/ddp.yaml -m judge dpo RECIPE
    """
    require("judge dpo", "train", *TRL)
    from judge.training.dpo import train_dpo

    run_recipe(DPORecipe, train_dpo, words or (), resume, overwrite)


def encoder_command(words: WORDS = None, resume: RESUME = False, overwrite: OVERWRITE = False) -> None:
    """Train an encoder as a judge: ten times as fast as a language model of 135M; verdicts only."""
    from judge.training.encoder import train_encoder

    run_recipe(EncoderRecipe, train_encoder, words or (), resume, overwrite)


def _recipe(kind: type[Recipe], file: Path, overrides: Sequence[str]) -> Recipe:
    """The recipe of a file; one that fits another command is told as such."""
    try:
        return load_config(kind, file, overrides)
    except InputError:
        fitting = [stage for other, stage in STAGES.items() if _fits(other, file)]
        if fitting and STAGES[kind] not in fitting:
            names = " or ".join(f"judge {stage}" for stage in fitting)
            raise InputError(f"is a recipe of {names}, not of judge {STAGES[kind]}", file=file) from None
        raise


def _fits(kind: type[RunConfig], file: Path) -> bool:
    try:
        load_config(kind, file)
    except InputError:
        return False
    return True


TRL = ("trl", "datasets")
"""Packages for training language models; encoders need only the toolkit's own dependencies."""
STAGES: dict[type[RunConfig], str] = {SFTRecipe: "sft", DPORecipe: "dpo", EncoderRecipe: "encoder"}


def run_recipe(
    kind: type[SFTRecipe] | type[DPORecipe] | type[EncoderRecipe],
    train: Callable[[Any], dict[str, Any]],
    words: Sequence[str],
    resume: bool = False,
    overwrite: bool = False,
) -> None:
    """Train by ``[RECIPE] [KEY=VALUE]...`` and print a summary.

    Resuming a finished run succeeds at once, so that a job can be restarted until it is done.

    Raises:
        InputError: if the recipe is wrong, its output would be overwritten, or another run is writing there.
    """
    stage = STAGES[kind]
    recipe, overrides = DEMO, [*words]
    if words and ("=" not in words[0] or Path(words[0]).exists()):
        recipe, *overrides = Path(words[0]), *words[1:]
    overrides += [f"{key}=true" for key, given in (("resume", resume), ("overwrite", overwrite)) if given]
    first = first_process()
    obey_launcher()  # before anything looks for GPUs
    file = find_recipe(recipe, stage)
    config = _recipe(kind, file, overrides)
    with locked(Path(config.output), folder=True) if first else nullcontext():
        finished = finished_run(config, describe_run(config, stage)) if config.resume else None
        if finished is None:
            prepare(config, stage, recipe, file)
            # Errors about the output are raised before anything is loaded.
            resume_point(config, describe_run(config, stage))
        summary = finished["training"] if finished else train(config)
    if first:
        numbers = ", ".join(
            f"{name} {value}" for name, value in summary.items() if not isinstance(value, list | dict)
        )
        print(f"{config.output}: {'finished already; ' if finished else ''}{numbers}")
