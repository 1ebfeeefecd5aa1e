"""``judge recipes``: lists the recipes that come with the toolkit, or copies them for editing."""

from pathlib import Path
from typing import Annotated

import typer

from judge.errors import InputError, unknown
from judge.shipped import RECIPES, copy_recipes, recipe_names


def recipes_command(
    name: Annotated[str | None, typer.Argument(help="One recipe; all by default.")] = None,
    copy: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Copy to DIR/recipes, with the launch configs in DIR/accelerate_configs."
        ),
    ] = None,
) -> None:
    """List the recipes, or copy them to a folder where every command in their READMEs works as written.

    judge data build, sft, dpo, encoder and doctor also take a recipe by name.
    """
    if name is not None and name not in recipe_names():
        raise InputError(unknown("recipe", name, recipe_names()))
    names = recipe_names() if name is None else [name]
    if copy is not None:
        for folder in copy_recipes(names, copy):
            typer.echo(folder)
        return
    for each in names:
        files = sorted(path.name for path in (RECIPES / each).iterdir() if path.is_file())
        typer.echo(f"{each:<22} {' '.join(files)}")
    if name is not None:
        typer.echo(RECIPES / name)
