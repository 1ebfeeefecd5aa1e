"""Help pages without names of Python types."""

from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

KINDS = {
    bool: "", int: "NUMBER", float: "NUMBER",
    str: "TEXT", list[str]: "TEXT", Path: "PATH", list[Path]: "PATH",
}  # fmt: skip
"""Names of value types on help pages."""


def command_of(app: typer.Typer) -> Any:
    """The command or group of commands of an app, with readable types on its help pages."""
    command = get_command(app)
    _name_kinds(command)
    return command


def _name_kinds(command: Any) -> None:
    for nested in getattr(command, "commands", {}).values():
        _name_kinds(nested)
    for option in command.get_params(typer.Context(command)):
        kind = option.type_descriptor.annotation
        if kind not in KINDS:
            continue
        if option.param_type_name == "argument":  # its metavar is its name
            option.display_type = lambda ctx, shown=KINDS[kind]: shown
        elif option.metavar is None:
            option.metavar = KINDS[kind]
