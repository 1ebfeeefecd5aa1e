"""``judge doctor``: what a device can do, and whether a training recipe fits it."""

import importlib.metadata
import platform
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.train import WORDS
from judge.configs import load_config
from judge.errors import InputError, unknown
from judge.models.hardware import GIB, KNOWN_DEVICES, Device, this_device
from judge.shipped import find_recipe
from judge.training.config import DPORecipe, SFTRecipe, TrainingConfig
from judge.training.memory import estimate, sequences_of

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "deepspeed", "vllm")
UNITS = {"MB": 1e6, "MIB": 2**20, "GB": 1e9, "GIB": 2**30}
SAVING = (
    "what saves memory, the cheapest first: batch_size=1 with more gradient_accumulation, "
    "gradient_checkpointing=true, LoRA instead of all weights, quantization=nf4, a smaller max_length"
)


def doctor_command(
    words: WORDS = None,
    device: Annotated[
        str | None, typer.Option(help=f"Assume this device: {', '.join(KNOWN_DEVICES)}.")
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Assume this much memory, such as 16GB.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="The model's config.json, if the model is not on this machine.")
    ] = None,
) -> None:
    """Check whether a training recipe fits the device (exit code 1: no); without one, show the device.

    A file with 'dpo' in its name, or NAME/dpo, is a DPO recipe.
    """
    if device is not None and device.lower() not in KNOWN_DEVICES:
        raise InputError(unknown("device", device, KNOWN_DEVICES))
    target = this_device() if device is None else KNOWN_DEVICES[device.lower()]
    if memory is not None:
        target = replace(target, memory_bytes=parse_memory(memory))
    if not words:
        show_device(target)
        return
    if "=" in words[0]:
        raise InputError(f"{words[0]!r} changes a recipe; name the recipe before it")
    recipe = find_recipe(Path(words[0]), "sft")
    if recipe.stem.startswith("encoder"):
        raise InputError(
            "is by its name for judge encoder; recipes for judge sft and dpo are checked", file=recipe
        )
    kind: type[TrainingConfig] = DPORecipe if "dpo" in recipe.stem else SFTRecipe
    if not examine(load_config(kind, recipe, words[1:]), recipe.name, target, config):
        raise typer.Exit(1)


def parse_memory(text: str) -> int:
    """Bytes of an amount such as ``16GB`` (of 10^9) or ``16GiB`` (of 2^30). Raises ``InputError``."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)", text.strip())
    if found is None or found[2].upper() not in UNITS:
        raise InputError(
            f"{text!r} is not an amount of memory; write such as 16GB or 15.5GiB", field="memory"
        )
    return int(float(found[1]) * UNITS[found[2].upper()])


def show_device(device: Device) -> None:
    """Print what a device can do, and the versions of the libraries."""
    rows = {
        "device": device.name,
        "memory": f"{device.memory_bytes / GIB:.1f} GiB",
        "CUDA capability": "-" if device.capability is None else "{}.{}".format(*device.capability),
        "bfloat16": "yes" if device.bfloat16 else "no",
        "trains in": device.precision(training=True),
        "judges in": device.precision(),
        "python": platform.python_version(),
    }
    for name in LIBRARIES:
        try:
            rows[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            rows[name] = "not installed"
    for name, value in rows.items():
        typer.echo(f"{name:<16}  {value}")


def examine(recipe: TrainingConfig, name: str, device: Device, config: Path | None) -> bool:
    """Print the estimate of a recipe, and whether it fits and by how much; returns whether it does.

    Raises:
        InputError: the model is unknown, or the recipe cannot train on such a device at all.
    """
    from judge.models.architecture import read_architecture
    from judge.training.arguments import check_quantization

    check_quantization(recipe)
    device.check_precision(recipe.precision)
    model = read_architecture(recipe.model, config)
    memory = estimate(recipe, model, device)
    rows, tokens = sequences_of(recipe)
    parameters = (model.linear_parameters + model.other_parameters) / 1e9
    precision = device.precision(training=True) if recipe.precision == "auto" else recipe.precision
    left = device.memory_bytes - memory.total
    amounts = asdict(memory)
    amounts |= {
        "needed at the peak": memory.total,
        f"there is ({device.name}, {precision})": device.memory_bytes,
    }
    typer.echo(f"{name}: {recipe.model}, {parameters:.2f} billion parameters; GiB")
    for title, amount in amounts.items():
        typer.echo(f"  {title:<36} {amount / GIB:8.2f}")
    typer.echo(f"for one process; {rows} x {tokens} tokens in a micro-batch, the most there can be")
    if left >= 0:
        typer.echo(f"yes: it fits, and leaves {left / GIB:.2f} GiB")
        return True
    typer.echo(f"no: it takes {-left / GIB:.2f} GiB more than there is")
    typer.echo(SAVING)
    return False
