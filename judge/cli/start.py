"""What a training needs to start: its data set and, for DPO, the SFT judge. Makes it, or says how to."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from judge.configs import text_override
from judge.errors import DATA, InputError, JudgeError, require
from judge.models.base import is_path
from judge.shipped import find_recipe
from judge.training.config import DPORecipe, RunConfig

DEMO = Path("demo")
"""The recipe if none is named: it fits any machine."""
MERGED = "-merged"


def prepare(config: RunConfig, stage: str, recipe: Path, file: Path) -> None:
    """Check that a training can start. The demo's data set is built if missing.

    Args:
        config: the recipe with the command line's overrides.
        stage: ``sft``, ``dpo`` or ``encoder``.
        recipe: the recipe as named on the command line.
        file: the file that it was read from.

    Raises:
        InputError: if the data set or the SFT judge is missing; names the commands that make it.
        JudgeError: if the demo's data set could not be built.
    """
    model = config.model
    if isinstance(config, DPORecipe) and is_path(model) and not Path(model).exists():
        trained = model.removesuffix(MERGED)
        steps = making("sft", trained, recipe, file)
        if model != trained:
            steps += f" && judge merge {shlex.quote(trained)} -o {shlex.quote(model)}"
        raise InputError(
            f"is missing; DPO starts from the SFT judge, so make that first: {steps}", file=model
        )
    if Path(config.data).exists():
        return
    build = making("data", config.data, recipe, file)
    if file.resolve() != find_recipe(DEMO, stage).resolve() or int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError(f"is missing; build the data set first: {build}", file=config.data)
    require("building the demo's data set", "data", *DATA)
    print(f"{config.data} is missing; building it first\n$ {build}", flush=True)
    command = [sys.executable, "-m", *shlex.split(build)]
    if subprocess.run(command, check=False).returncode != 0:  # noqa: S603 (our own command)
        raise JudgeError(f"{config.data} could not be built; the lines above say why")


def _output_of(recipe: Path) -> str | None:
    """The output that a recipe names, if it can be read and names one."""
    try:
        values = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None
    output = values.get("output") if isinstance(values, dict) else None
    return output if isinstance(output, str) else None


def making(stage: str, wanted: str, recipe: Path, file: Path) -> str:
    """The command that makes the folder ``wanted`` with another file of the same recipe.

    Of several files for the stage (``data.yaml``, ``data-1.5b.yaml``), the one with that output is used.
    """
    usual = file.with_name(f"{stage}.yaml")
    others = [path for path in (usual, *sorted(file.parent.glob(f"{stage}-*.yaml"))) if path.is_file()]
    outputs = {path: _output_of(path) for path in others}
    other = next((path for path in others if outputs[path] == wanted), usual)
    named, given = "RECIPE", outputs.get(other)
    if given is not None:
        name = recipe.parts[0] if other == usual else f"{recipe.parts[0]}/{other.stem}"
        named = str(other) if recipe == file else name
    words = ["judge", *(["data", "build"] if stage == "data" else [stage]), named]
    if wanted != given:
        words += ["--out", wanted] if stage == "data" else [text_override("output", wanted)]
    return shlex.join(words)
