"""What both training entry points do: read a recipe, train, print where the judge lies, fail clearly."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from judge.configs import Config, load_config
from judge.errors import JudgeError


def run_recipe(
    kind: type[Config],
    train: Callable[[Config], dict[str, Any]],
    default: Path,
    description: str,
    arguments: Sequence[str] | None = None,
) -> int:
    """Parse ``[RECIPE] [key=value ...]``, train, and print a summary; returns the exit code.

    Without a recipe the demo's is used, which fits any machine.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "recipe", nargs="?", type=Path, default=default, help="YAML file (default: %(default)s)"
    )
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="such as learning_rate=1e-4")
    parsed = parser.parse_args(arguments)
    recipe, overrides = parsed.recipe, parsed.overrides
    if "=" in str(recipe) and not recipe.exists():  # the recipe was left out
        recipe, overrides = default, [str(recipe), *overrides]
    try:
        config = load_config(kind, recipe, overrides)
        summary = train(config)
    except JudgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    numbers = ", ".join(f"{name} {value}" for name, value in summary.items() if not isinstance(value, list))
    print(f"{config.model_dump()['output']}: {numbers}")
    return 0
