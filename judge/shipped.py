"""The recipes, launch configs and judges that come with the toolkit, in a checkout and in an installed wheel.

A checkout has the recipes and configs at its top level; the wheel has the same folders inside this package
(see ``setup.py``). The judges are in this package.
"""

from pathlib import Path

from judge.errors import InputError, unknown
from judge.files import write_text
from judge.rows import FILE_TYPES, file_type

PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    installed = PACKAGE / name
    return installed if installed.is_dir() else PACKAGE.parent / name


RECIPES = _folder("recipes")
LAUNCH_CONFIGS = _folder("accelerate_configs")

REFERENCE = "reference"
"""Name of the encoder that comes with the toolkit, valid wherever a model is expected."""
REFERENCE_1_5B = "reference-1.5b"
"""Name of the language model. Its adapter comes with the toolkit, its base from the Hub."""
JUDGES = {REFERENCE: "reference", REFERENCE_1_5B: "reference_1_5b"}
"""The judges' folders in this package, by name."""


def is_baseline(model: str) -> bool:
    """Whether a name is that of a rule in :mod:`judge.baselines` rather than a model."""
    return model.startswith("baseline:")


def model_path(name: str) -> str:
    """The folder of a judge that comes with the toolkit, by its name; other names are returned unchanged."""
    return str(PACKAGE / JUDGES[name]) if name in JUDGES else name


def recipe_names() -> list[str]:
    """Names of the recipes, in order."""
    return sorted({path.parent.name for path in RECIPES.glob("*/*.yaml")})


def find_recipe(given: Path, stage: str) -> Path:
    """The recipe file that a command should read.

    Args:
        given: a file; or a shipped recipe by name (``demo``), with the file if it has several for a stage
            (``reference/encoder-inference``).
        stage: the file to take if only the recipe is named: ``data``, ``sft``, ``dpo``, ``encoder``,
            ``dialogues`` or ``onion``.

    Raises:
        InputError: if there is no such file, it holds rows, or the recipe has no file for the stage.
    """
    if file_type(given) in set(FILE_TYPES) - {".json"}:
        raise InputError(
            f"holds rows, but a recipe, a YAML file, is expected. judge teach {given} trains on rows; in a "
            f"recipe they are a source of kind: file: judge data build own-domain sources.0.path={given}",
            file=given,
        )
    name, *file = given.parts or ("",)
    if given.is_file() or len(file) > 1 or given.suffix == ".yaml" or given.is_absolute():
        return given  # its reader reports what is wrong with it
    fitting = sorted(path.parent.name for path in RECIPES.glob(f"*/{stage}.yaml"))
    if name not in recipe_names():
        if given.is_dir():
            raise InputError(f"is a folder; name a file in it, such as {given / stage}.yaml", file=given)
        raise InputError(f"is not a file, and no recipe: {unknown('recipe', name, fitting)}", file=given)
    path = RECIPES / name / f"{file[0] if file else stage}.yaml"
    if not path.is_file():
        there = ", ".join(sorted(other.stem for other in path.parent.glob("*.yaml")))
        raise InputError(
            f"recipe {name} has no {path.name} (it has: {there}); with {stage}.yaml: {', '.join(fitting)}"
        )
    return path


def copy_recipes(names: list[str], folder: Path) -> list[Path]:
    """Copy recipes, the training scripts and the launch configs, laid out as in the project's repository.

    Existing files with the same contents are kept.

    Returns:
        The folders of the recipes.

    Raises:
        InputError: if a file exists with other contents; nothing is copied then.
        JudgeError: if a file cannot be written.
    """
    sources = [path for name in names for path in (RECIPES / name).iterdir()] + [*RECIPES.glob("*.py")]
    copies = {path: folder / "recipes" / path.relative_to(RECIPES) for path in sources}
    copies |= {path: folder / "accelerate_configs" / path.name for path in LAUNCH_CONFIGS.glob("*.yaml")}
    copies = {path: copy for path, copy in copies.items() if path.is_file()}
    for path, copy in copies.items():
        if copy.exists() and (not copy.is_file() or copy.read_bytes() != path.read_bytes()):
            raise InputError("is there already and was changed; copy to another folder", file=copy)
    for path, copy in copies.items():
        if not copy.exists():
            write_text(copy, path.read_text(encoding="utf-8"))
    return [folder / "recipes" / name for name in names]
