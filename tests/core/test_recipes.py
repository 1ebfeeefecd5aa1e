"""What is shipped to be typed and run: every recipe, every launch config, every command of a recipe's
README."""

import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from data_pipeline.config import DataConfig
from data_pipeline.dialogues.config import DialoguesConfig
from judge.cli.main import COMMANDS, main
from judge.configs import StrictConfig, load_config
from judge.models.hardware import KNOWN_DEVICES
from judge.training.config import DPORecipe, SFTRecipe

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*/*.yaml"))
LAUNCH = sorted((ROOT / "accelerate_configs").glob("*.yaml"))
LAUNCH_FILES = [path.relative_to(ROOT) for path in LAUNCH]
READMES = sorted((ROOT / "recipes").glob("*/README.md"))
TRAINED = ("demo", "t4-qlora-qwen2.5-7b", "bian-qwen2.5-7b", "bian-qwen2.5-14b", "lynx-llama3-8b",
           "lynx-llama3-70b", "own-domain")  # fmt: skip


def kind_of(recipe: Path) -> type[StrictConfig]:
    kinds: dict[str, type[StrictConfig]] = {
        "data": DataConfig, "dialogues": DialoguesConfig, "sft": SFTRecipe, "dpo": DPORecipe,
    }  # fmt: skip
    return kinds[recipe.stem.split("-")[0]]


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_recipes_load_and_begin_with_their_command(recipe: Path) -> None:
    load_config(kind_of(recipe), recipe)
    commands = [line for line in recipe.read_text().splitlines() if line.startswith("# ")]
    assert str(recipe.relative_to(ROOT)) in "".join(commands[:2])


@pytest.mark.parametrize("name", TRAINED)
def test_every_recipe_to_train_is_whole(name: str) -> None:
    folder = ROOT / "recipes" / name
    assert {"README.md", "data.yaml", "sft.yaml"} <= {path.name for path in folder.iterdir()}
    data = load_config(DataConfig, folder / "data.yaml").output
    stages = [path for path in folder.glob("*.yaml") if path.stem != "data"]
    recipes = [load_config(kind_of(path), path).model_dump() for path in stages]
    assert {recipe["data"] for recipe in recipes} == {data}
    outputs = [recipe["output"] for recipe in recipes]
    assert len(set(outputs)) == len(outputs)


@pytest.mark.parametrize("config", LAUNCH, ids=lambda path: path.stem)
def test_launch_configs_name_their_command_and_are_taken(config: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    first = config.read_text().splitlines()[0]
    check_launch(shlex.split(first.removeprefix("# ")), config)
    loaded = load_config_from_file(str(config))
    assert loaded.num_processes >= 1 and isinstance(yaml.safe_load(config.read_text()), dict)


def check_launch(words: list[str], config: Path | None = None) -> None:
    """An ``accelerate launch`` command: its options are accelerate's, its files are there, its recipe
    loads."""
    from accelerate.commands.launch import launch_command_parser

    assert words[:2] == ["accelerate", "launch"]
    places = {"RANK": "0", "ADDRESS": "10.0.0.1"}
    parsed = launch_command_parser().parse_args([places.get(word, word) for word in words[2:]])
    assert Path(parsed.config_file).is_file()
    assert config is None or Path(parsed.config_file).resolve() == config
    check_training([parsed.training_script, *parsed.training_script_args])


def check_training(words: list[str]) -> None:
    script, recipe, *overrides = words
    kind = {"recipes/sft.py": SFTRecipe, "recipes/dpo.py": DPORecipe}[script]
    load_config(kind, Path(recipe), [word for word in overrides if word != "--resume"])


def commands_of(readme: Path) -> Iterator[list[str]]:
    """The commands in blocks of code, whether these are fenced or indented."""
    for line in readme.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith(("judge ", "accelerate ", "python recipes")):
            yield shlex.split(line, comments=True)


def test_readmes_have_commands() -> None:
    assert {readme.parent.name for readme in READMES} >= set(TRAINED)
    assert all([*commands_of(readme)] for readme in READMES)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_commands_of_readmes_parse(readme: Path) -> None:
    for words in commands_of(readme):
        if words[0] == "accelerate":
            check_launch(words)
        elif words[0] == "python":
            check_training(words[1:])
        else:
            assert words[0] == "judge", words
            check_judge(words[1:])


def check_judge(words: list[str]) -> None:
    """The options of a ``judge`` command are known, and its recipe loads with its overrides."""
    name, *rest = words
    module, attribute = COMMANDS[name][0].split(":")
    command = get_command(getattr(importlib.import_module(module), attribute))
    if hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    values = command.make_context(name, list(rest)).params
    for value in values.values():
        if value in LAUNCH_FILES:
            continue
        if isinstance(value, Path) and value.suffix == ".yaml":
            overrides = values.get("overrides") or values.get("settings") or ()
            load_config(kind_of(value), value, list(overrides))


# --- What READMEs promise -----------------------------------------------------------------------------------

SIZED = [readme for readme in READMES if re.search(r"\b[0-9]+ GB\b", readme.read_text(encoding="utf-8"))]


def test_recipes_that_name_a_gpu() -> None:
    assert {readme.parent.name for readme in SIZED} == set(TRAINED) - {"demo"}


@pytest.mark.parametrize("readme", SIZED, ids=lambda path: path.parent.name)
def test_every_recipe_fits_what_its_readme_says(readme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the doctor commands that it names: one a stage, on a GPU of the size that it promises."""
    text = readme.read_text(encoding="utf-8")
    promised = min(int(size) for size in re.findall(r"\b([0-9]+) GB\b", text))
    examined = set()
    for words in commands_of(readme):
        if words[:2] == ["judge", "doctor"]:
            device = KNOWN_DEVICES[words[words.index("--device") + 1]]
            assert 0.9 * promised * 1e9 <= device.memory_bytes <= promised * 2**30
            with pytest.raises(SystemExit) as stop:
                main(words[1:])
            said = capsys.readouterr()
            assert not stop.value.code and "yes: it fits" in said.out, said
            examined.add(Path(words[words.index("--recipe") + 1]))
    stages = [path for path in readme.parent.glob("*.yaml") if path.stem != "data"]
    assert examined == {path.relative_to(ROOT) for path in stages}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("bian-qwen2.5-7b", 4), ("bian-qwen2.5-14b", 4), ("lynx-llama3-8b", 256), ("lynx-llama3-70b", 256)],
)
def test_a_step_has_as_many_sequences_as_the_paper_says(name: str, wanted: int) -> None:
    """Whatever memory asks of micro-batches. Bi'an (Table 15) and Lynx (appendix B)."""
    for path in sorted((ROOT / "recipes" / name).glob("*.yaml")):
        if path.stem != "data":
            recipe = load_config(kind_of(path), path).model_dump()
            launch = ROOT / re.findall(r"accelerate_configs/\S+", path.read_text())[0]
            processes = yaml.safe_load(launch.read_text())["num_processes"]
            assert recipe["batch_size"] * recipe["gradient_accumulation"] * processes == wanted
