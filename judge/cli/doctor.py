"""``judge doctor``: what the device at hand can do, and whether a training recipe fits it."""

import importlib.metadata
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.configs import load_config
from judge.errors import InputError, unknown
from judge.models.hardware import GIB, KNOWN_DEVICES, Device, this_device
from judge.shipped import find_recipe
from judge.training.config import DPORecipe, LoraSettings, SFTRecipe, TrainingConfig
from judge.training.memory import Memory, estimate, sequences_of
from judge.training.spread import ALONE, Spread, read_spread

app = typer.Typer(add_completion=False)

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "deepspeed", "vllm")
UNITS = {"MB": 1e6, "MIB": 2**20, "GB": 1e9, "GIB": 2**30}
LENGTHS = (4096, 3072, 2048, 1536, 1024, 768, 512)
"""Values of max_length to propose."""


@app.command("doctor")
def doctor_command(
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Such as lora.rank=8.")
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(help="Training recipe; a file with 'dpo' in its name, or NAME/dpo, is a DPO recipe."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help=f"Instead of the one at hand: {', '.join(KNOWN_DEVICES)}.")
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Instead of all of the device's, such as 16GB.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="The model's config.json, where it is not at hand.")
    ] = None,
    launch: Annotated[
        Path | None, typer.Option(help="A config of accelerate launch: how the model is spread over GPUs.")
    ] = None,
) -> None:
    """Does a training recipe fit the device? Exit code 0 yes, 1 no. Without a recipe, shows the device."""
    target = choose_device(device, memory)
    if recipe is None:
        if overrides or launch:
            given = f"{overrides[0]!r} changes" if overrides else "--launch is for"
            raise InputError(f"{given} a recipe; name it with --recipe FILE")
        show_device(target)
        return
    recipe = find_recipe(recipe, "sft")
    kind: type[TrainingConfig] = DPORecipe if "dpo" in recipe.stem else SFTRecipe
    spread = ALONE if launch is None else read_spread(launch)
    if not examine(load_config(kind, recipe, overrides or []), recipe.name, target, config, spread):
        raise typer.Exit(1)


def choose_device(name: str | None, memory: str | None) -> Device:
    """The device to plan for. Raises ``InputError`` for a name or an amount that is none."""
    if name is not None and name.lower() not in KNOWN_DEVICES:
        raise InputError(unknown("device", name, KNOWN_DEVICES))
    device = this_device() if name is None else KNOWN_DEVICES[name.lower()]
    return device if memory is None else replace(device, memory_bytes=parse_memory(memory))


def parse_memory(text: str) -> int:
    """Bytes of an amount such as ``16GB`` (of 10^9) or ``16GiB`` (of 2^30). Raises ``InputError``."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)", text.strip())
    if found is None or found[2].upper() not in UNITS:
        raise InputError(f"{text!r} is no amount of memory; write such as 16GB or 15.5GiB", field="memory")
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
        **{name: _version(name) for name in LIBRARIES},
    }
    table = _table("", "")
    for name, value in rows.items():
        table.add_row(name, value)
    _print(table)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def examine(
    recipe: TrainingConfig, name: str, device: Device, config: Path | None, spread: Spread = ALONE
) -> bool:
    """Print the estimate of a recipe, and what to change where it does not fit; returns whether it does.

    Raises:
        InputError: the model is unknown, or the recipe cannot train on such a device at all.
    """
    from judge.models.architecture import read_architecture
    from judge.training.arguments import check_quantization

    check_quantization(recipe)
    device.check_precision(recipe.precision)
    model = read_architecture(recipe.model, config)
    memory = estimate(recipe, model, device, spread)

    def fits(changed: TrainingConfig) -> bool:
        return estimate(changed, model, device, spread).total <= device.memory_bytes

    rows, tokens = sequences_of(recipe)
    parameters = (model.linear_parameters + model.other_parameters) / 1e9
    precision = device.precision(training=True) if recipe.precision == "auto" else recipe.precision
    table = _table(f"{name}: {recipe.model}, {parameters:.2f} billion parameters", "GiB")
    for part in fields(Memory):
        table.add_row(part.name, f"{getattr(memory, part.name) / GIB:.2f}")
    table.add_section()
    table.add_row("needed at the peak", f"{memory.total / GIB:.2f}")
    table.add_row(f"there is ({device.name}, {precision})", f"{device.memory_bytes / GIB:.2f}")
    _print(table)
    typer.echo(
        f"for one process ({spread}); {rows} x {tokens} tokens in a micro-batch, the most there can be"
    )
    if fits(recipe):
        typer.echo("yes: it fits")
        return True
    changes = what_to_change(recipe, fits)
    if changes is None:
        typer.echo("no: nor would it with any change of the recipe; take a smaller model or a larger device")
    else:
        typer.echo("no: it would fit with")
        for key, value in changes.items():
            typer.echo(f"  {key}: {_yaml(value)}")
    return False


def what_to_change(recipe: TrainingConfig, fits: Callable[[TrainingConfig], bool]) -> dict[str, Any] | None:
    """The least changes of a recipe with which it fits, or ``None``.

    Changes are taken one after the other, those first that cost nothing but time; in the end those that turn
    out to be needless are dropped, the dearest first.
    """
    taken: list[dict[str, Any]] = []
    for change in remedies(recipe):
        taken.append(change)
        if fits(_changed(recipe, taken)):
            break
    else:
        return None
    for change in taken[-2::-1]:
        fewer = [other for other in taken if other is not change]
        if fits(_changed(recipe, fewer)):
            taken = fewer
    return {key: value for change in taken for key, value in change.items()}


def remedies(recipe: TrainingConfig) -> Iterator[dict[str, Any]]:
    """Changes that save memory, the cheapest first."""
    if recipe.batch_size > 1:
        yield {"batch_size": 1, "gradient_accumulation": recipe.batch_size * recipe.gradient_accumulation}
    if not recipe.gradient_checkpointing:
        yield {"gradient_checkpointing": True}
    if recipe.lora is None:
        if recipe.optimizer == "adamw":
            yield {"optimizer": "paged_adamw_8bit"}
        yield {"lora": LoraSettings()}
    if recipe.quantization is None:
        yield {"quantization": "nf4"}
    for length in LENGTHS:
        if length < recipe.max_length:
            shorter = {"max_length": length}
            if isinstance(recipe, SFTRecipe) and recipe.sequence_tokens > length:
                shorter["sequence_tokens"] = length
            yield shorter


def _changed(recipe: TrainingConfig, changes: list[dict[str, Any]]) -> TrainingConfig:
    return recipe.model_copy(update={key: value for change in changes for key, value in change.items()})


def _yaml(value: Any) -> str:
    if isinstance(value, LoraSettings):
        return f"{{rank: {value.rank}, alpha: {value.alpha}}}"
    return str(value).lower()


def _table(first: str, second: str) -> Any:
    from rich.table import Table

    table = Table(show_header=bool(first))
    table.add_column(first)
    table.add_column(second, justify="right" if first else "left")
    return table


def _print(table: Any) -> None:
    from rich.console import Console

    Console().print(table)
