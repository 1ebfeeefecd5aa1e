"""``judge data``: build data sets."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Build data sets for training judges.", no_args_is_help=True, add_completion=False)


@app.callback()
def data() -> None:
    """Build data sets for training judges."""


@app.command("build")
def build_command(
    config: Annotated[Path, typer.Argument(help="A data recipe, such as recipes/demo/data.yaml.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the data set, instead of the recipe's.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="key=value on top of the recipe; repeatable.")
    ] = None,
) -> None:
    """Build an SFT and DPO data set from documents with gold answers."""
    from rich.console import Console

    from data_pipeline.build import build
    from data_pipeline.config import DataConfig
    from judge.configs import load_config

    console = Console(stderr=True)
    changes = [*(overrides or []), *([f"output={out}"] if out is not None else [])]
    recipe = load_config(DataConfig, config, changes)
    manifest = build(recipe, say=console.print)
    for reason, items in manifest["dropped"].items():
        console.print(f"left out, {reason}: {items['count']}")
    typer.echo(f"{recipe.output}: {manifest['samples']} samples, see {Path(recipe.output) / 'card.md'}")
