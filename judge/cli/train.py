"""What both training entry points do: read a recipe, train, print where the judge lies, fail clearly."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from judge.configs import load_config
from judge.errors import JudgeError
from judge.training.checkpoints import describe_run, finished_run
from judge.training.config import DPORecipe, SFTRecipe


def run_recipe(
    kind: type[SFTRecipe] | type[DPORecipe],
    train: Callable[[Any], dict[str, Any]],
    default: Path,
    description: str,
    arguments: Sequence[str] | None = None,
) -> int:
    """Parse ``[RECIPE] [key=value ...] [--resume]``, train, print a summary; returns the exit code.

    Without a recipe the demo's is used, which fits any machine. A run that is to be resumed and is finished
    ends well at once, so that a job may be started again and again until it is done.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "recipe", nargs="?", type=Path, default=default, help="YAML file (the demo's by default)"
    )
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="such as learning_rate=1e-4")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint (resume=true)")
    parsed = parser.parse_intermixed_args(arguments)
    recipe, overrides = parsed.recipe, parsed.overrides
    if "=" in str(recipe) and not recipe.exists():  # the recipe was left out
        recipe, overrides = default, [str(recipe), *overrides]
    if parsed.resume:
        overrides = [*overrides, "resume=true"]
    try:
        config = load_config(kind, recipe, overrides)
        finished = None
        if config.resume:
            finished = finished_run(config, describe_run(config, "sft" if kind is SFTRecipe else "dpo"))
        summary = finished["training"] if finished else train(config)
    except JudgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    if os.environ.get("RANK", "0") == "0":
        numbers = ", ".join(
            f"{name} {value}" for name, value in summary.items() if not isinstance(value, list | dict)
        )
        print(f"{config.output}: {'finished already; ' if finished else ''}{numbers}")
    return 0
