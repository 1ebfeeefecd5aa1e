"""Commands made of functions: readable types on their help pages, and no empty paths."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from judge.cli.settings import WithSettings
from judge.errors import InputError

KINDS = {
    bool: "", int: "NUMBER", float: "NUMBER",
    str: "TEXT", list[str]: "TEXT", Path: "PATH", list[Path]: "PATH",
}  # fmt: skip
"""Names of value types on help pages."""
OPTIONS = ["--help", "-h"]
"""Options that show a help page."""


def app_of(command: typer.Typer | Callable[..., None]) -> typer.Typer:
    """The app of a function, or of several, which is one already."""
    if isinstance(command, typer.Typer):
        return command
    app = typer.Typer(add_completion=False)
    app.command(cls=WithSettings)(command)
    return app


def command_of(found: typer.Typer | Callable[..., None]) -> Any:
    """The command of a function, or the group of an app, with readable types on its help pages."""
    command = get_command(app_of(found))
    command.context_settings["help_option_names"] = OPTIONS
    _name_kinds(command)
    return command


def _path(option: Any, process: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """The value of an option for paths; empty, it is an unset variable of the shell, not this folder."""
    if "" in (value if isinstance(value, list | tuple) else [value]):
        raise InputError("is empty; give a path, . for this folder", field=max(option.opts, key=len))
    return process(ctx, value)


def _name_kinds(command: Any) -> None:
    for nested in getattr(command, "commands", {}).values():
        _name_kinds(nested)
    for option in command.get_params(typer.Context(command, help_option_names=OPTIONS)):
        kind = option.type_descriptor.annotation
        if kind not in KINDS:
            continue
        if kind in (Path, list[Path]):
            option.process_value = partial(_path, option, option.process_value)
        if option.param_type_name == "argument":  # its metavar is its name
            option.display_type = lambda ctx, shown=KINDS[kind]: shown
        elif option.metavar is None:
            option.metavar = KINDS[kind]
