"""Rare options, given as ``--set KEY=VALUE``: typed, checked and documented like any other option."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from judge.errors import InputError, unknown

PANEL = "Settings: --set KEY=VALUE"
"""The panel of the help page that lists them."""

SET = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Change one of the settings listed below; repeatable."),
]


def setting(text: str, **more: Any) -> Any:
    """An option of a :class:`WithSettings` command that is given as ``--set``."""
    return typer.Option(help=text, rich_help_panel=PANEL, hidden=True, **more)


class WithSettings(TyperCommand):
    """A command that takes its rare options as ``--set KEY=VALUE``.

    A value that itself has keys is given as ``--set KEY.INNER=VALUE``.
    """

    def __init__(self, *arguments: Any, **more: Any):
        super().__init__(*arguments, **more)
        panels = {option: getattr(option, "rich_help_panel", None) for option in self.params}
        self.settings: dict[str, Any] = {
            option.name or "": option for option, panel in panels.items() if panel == PANEL
        }
        for key, option in self.settings.items():
            option.opts = [f"--set {key}"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, with each ``--set KEY=VALUE`` as one word."""
        of_recipe = not self.settings and any("KEY=VALUE" in (one.metavar or "") for one in self.params)
        if of_recipe and "--set" in args:
            raise InputError("keys of a recipe are written without it: KEY=VALUE", field="--set")
        words: list[str] = []
        left = iter(args)
        for word in left:
            option, equals, value = word.partition("=")
            if option != "--set" or not self.settings:
                words.append(word)
            elif (given := value if equals else next(left, None)) is None:
                words.append(word)  # refused by the parser
            else:
                words += self._as_option(given)
        return super().parse_args(ctx, words)

    def _as_option(self, given: str) -> list[str]:
        """``KEY=VALUE`` as the words that the parser takes."""
        name, equals, value = given.partition("=")
        key, dot, inner = name.strip().partition(".")
        if not equals:
            raise InputError(
                f"{given!r} is not KEY=VALUE, such as {next(iter(self.settings))}=...", field="--set"
            )
        if key not in self.settings:
            option = f"--{key.replace('_', '-')}"
            if any(option in known.opts for known in self.params):
                raise InputError(f"{key} is an option of its own: {option}", field="--set")
            raise InputError(unknown("setting", key, self.settings), field="--set")
        option = self.settings[key].opts[0]
        if not self.settings[key].is_flag:
            return [f"{option}={inner}={value}" if dot else f"{option}={value}"]
        if value not in ("true", "false"):
            raise InputError(f"{key} is true or false, found {value!r}", field="--set")
        return [option] if value == "true" else []

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help page; settings come last, each as one writes it after ``--set``."""
        self.params.sort(key=lambda option: option.name in self.settings)
        for key, option in self.settings.items():
            kind = "true" if option.is_flag else option.metavar or option.display_type(ctx).strip("<>")
            option.opts, option.secondary_opts = [f"{key}{'.' if '=' in kind else '='}{kind}"], []
            option.display_type_rich = lambda ctx: None
            option._get_number_range_help_str = lambda: ""
            option.hidden, option.show_default = False, option.show_default and not option.is_flag
        super().format_help(ctx, formatter)
