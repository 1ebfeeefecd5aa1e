"""What is shipped to be typed and run: every recipe, every launch config, every command of a recipe's
README."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_pipeline.config import DataConfig
from data_pipeline.papers.dialogues.config import DialoguesConfig
from data_pipeline.papers.onion.config import OnionConfig
from judge.cli.main import load_command
from judge.configs import StrictConfig, load_config
from judge.models.hardware import KNOWN_DEVICES
from judge.training.config import DPORecipe, EncoderRecipe, SFTRecipe
from tests.calling import call
from tests.core.test_doc_blocks import blocks, commands

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*/*.yaml"))
LAUNCH = sorted((ROOT / "accelerate_configs").glob("*.yaml"))
LAUNCH_FILES = [path.relative_to(ROOT) for path in LAUNCH]
# Under `make -j2 test` an inner make would print its job server's warning and the folder it is in.
MAKE_ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
READMES = sorted((ROOT / "recipes").glob("*/README.md"))
DOCS = [ROOT / "README.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").glob("*.md"))]
TRAINED = ("demo", "t4", "bian-7b", "bian-14b", "lynx-8b", "lynx-70b", "own-domain")


def kind_of(recipe: Path) -> type[StrictConfig]:
    kinds: dict[str, type[StrictConfig]] = {
        "data": DataConfig,
        "dialogues": DialoguesConfig,
        "onion": OnionConfig,
        "sft": SFTRecipe,
        "dpo": DPORecipe,
        "encoder": EncoderRecipe,
    }
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
    stages = [path for path in folder.glob("*.yaml") if not path.stem.startswith("data")]
    recipes = [load_config(kind_of(path), path).model_dump() for path in stages]
    assert {recipe["data"] for recipe in recipes} == {data}
    outputs = [recipe["output"] for recipe in recipes]
    assert len(set(outputs)) == len(outputs)


@pytest.mark.parametrize("config", LAUNCH, ids=lambda path: path.stem)
def test_launch_configs_name_their_command_and_are_taken(config: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import launch_command_parser

    first = config.read_text().splitlines()[0]
    check_launch(shlex.split(first.removeprefix("# ")), config)
    loaded = load_config_from_file(str(config))  # refuses keys that accelerate does not know
    assert loaded.num_processes >= 1
    options = {action.dest for action in launch_command_parser()._actions}
    for part in ("fsdp_config", "deepspeed_config"):  # the keys of these it reads as options, or not at all
        assert options >= {*yaml.safe_load(config.read_text()).get(part, {})}


def check_launch(words: list[str], config: Path | None = None) -> None:
    """An ``accelerate launch`` command: its options are accelerate's, its files are there, its recipe
    loads."""
    from accelerate.commands.launch import launch_command_parser

    assert words[:2] == ["accelerate", "launch"]
    places = {"RANK": "0", "ADDRESS": "10.0.0.1"}
    parsed = launch_command_parser().parse_args([places.get(word, word) for word in words[2:]])
    assert parsed.config_file is None or Path(parsed.config_file).is_file()
    assert config is None or Path(parsed.config_file).resolve() == config
    if parsed.module:  # -m judge eval
        assert parsed.training_script == "judge"
        check_judge(parsed.training_script_args)
    else:
        check_training([parsed.training_script, *parsed.training_script_args])


def check_training(words: list[str]) -> None:
    script, *rest = words
    recipe, *overrides = rest or [f"recipes/demo/{Path(script).stem}.yaml"]
    kind = {"recipes/sft.py": SFTRecipe, "recipes/dpo.py": DPORecipe, "recipes/encoder.py": EncoderRecipe}[
        script
    ]
    load_config(kind, Path(recipe), [word for word in overrides if word != "--resume"])


def commands_of(readme: Path) -> Iterator[list[str]]:
    """The commands in blocks of code that are of judge, accelerate or a recipe's script."""
    for block in blocks(readme):
        if block.kind == "shell":
            for words in commands(replace(block, told="")):
                if words[0] in ("judge", "accelerate") or (words[0] == "python" and "recipes" in words[1]):
                    yield words


@pytest.mark.parametrize("readme", [*READMES, *DOCS], ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_readmes_parse(readme: Path) -> None:
    found = list(commands_of(readme))
    assert found or readme not in READMES
    for words in found:
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
    command = load_command(name)
    if hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    values = command.make_context(name, list(rest)).params
    for option, value in values.items():
        if value in LAUNCH_FILES or option == "template":
            continue
        if isinstance(value, Path) and value.suffix == ".yaml":
            given = (values.get(name) or () for name in ("keys", "overrides", "settings"))
            load_config(kind_of(value), value, [word for words in given for word in words])


def test_every_row_of_the_papers_has_a_command_and_says_what_differs() -> None:
    text = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    tables = text[text.index("## Lynx\n") : text.index("## What was run")]
    rows = [line.split(" | ") for line in tables.splitlines() if line.startswith("| ") and "---" not in line]
    rows = [row for row in rows if row[1] != "command"]
    assert len(rows) > 30
    for row in rows:
        assert len(row) == 3 and all(cell.strip("| ") for cell in row), row
        commands = [shlex.split(code) for code in re.findall(r"`([^`]+)`", row[1])]
        commands = [words for words in commands if words[0] in ("judge", "make", "accelerate")]
        assert commands, row
        for words in commands:
            if words[0] == "judge":
                check_judge(words[1:])
            elif words[0] == "accelerate":
                check_launch(words)


# --- What READMEs promise -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in TRAINED if not name.startswith(("demo", "lynx"))])
def test_every_recipe_fits_what_its_readme_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By the doctor commands that it names: one a stage, on a GPU of the size that it promises.

    Lynx is trained in shards, which the doctor does not plan.
    """
    readme = ROOT / "recipes" / name / "README.md"
    text = readme.read_text(encoding="utf-8")
    promised = min(int(size) for size in re.findall(r"\b([0-9]+) GB\b", text))
    examined = set()
    for words in commands_of(readme):
        if words[:2] == ["judge", "doctor"]:
            device = KNOWN_DEVICES[words[words.index("--device") + 1]]
            assert 0.9 * promised * 1e9 <= device.memory_bytes <= promised * 2**30
            code, said = call(*words[1:]), capsys.readouterr()
            assert code == 0 and "yes: it fits" in said.out, said
            examined.add(Path(words[2]))
    stages = [path for path in readme.parent.glob("*.yaml") if path.stem.startswith(("sft", "dpo"))]
    assert examined == {path.relative_to(ROOT) for path in stages}


# --- As printed ---------------------------------------------------------------------------------------------

LYNX = {"learning_rate": 5e-7, "epochs": 3, "scheduler": "cosine", "lora": None,
        "trainer": {"optim": "lion_32bit", "adam_beta2": 0.95, "warmup_steps": 100, "max_grad_norm": 1.0}
}  # fmt: skip
BIAN = {"epochs": 3, "scheduler": "cosine", "warmup_ratio": 0.1, "trainer": {}}
PRINTED: dict[str, tuple[int, dict[str, Any]]] = {
    "lynx-8b/sft": (256, LYNX),
    "lynx-70b/sft": (256, LYNX),
    **{f"bian-{size}/sft": (32, BIAN | {"learning_rate": 5e-5}) for size in ("7b", "14b")},
    **{f"bian-{size}/dpo": (16, BIAN | {"learning_rate": 5e-6}) for size in ("7b", "14b")},
}
"""Rows of a step (Lynx, section 3.3; Bi'an, Table 15: 4 rows on each of four GPUs, accumulated twice in SFT)
and settings."""


@pytest.mark.parametrize("name", PRINTED)
def test_recipes_of_papers_are_as_printed(name: str) -> None:
    path = ROOT / "recipes" / f"{name}.yaml"
    recipe = load_config(kind_of(path), path).model_dump()
    rows, settings = PRINTED[name]
    assert {key: recipe[key] for key in settings} == settings
    assert not recipe["keep_best"] and not recipe["judged_samples"]
    if name.startswith("bian"):
        assert (recipe["lora"]["rank"], recipe["lora"]["alpha"]) == (8, 16)
    launch = ROOT / re.findall(r"accelerate_configs/\S+", path.read_text())[0]
    config = yaml.safe_load(launch.read_text())
    if given := re.search(r"--num_processes (\d+)", path.read_text()):
        config["num_processes"] = int(given[1])
    assert recipe["batch_size"] * recipe["gradient_accumulation"] * config["num_processes"] == rows
    if path.stem.startswith("sft"):  # or else a sequence of two rows would count as one
        assert not recipe["prefix_sharing"]
    assert config["distributed_type"] == ("FSDP" if name.startswith("lynx") else "DEEPSPEED")


def measures_on_held_out(words: list[str]) -> bool:
    """Does a ``judge eval`` leave out the benchmarks that hold documents of its recipe's sources?"""
    benchmarks = words[words.index("--benchmarks") + 1].split(",")
    return not {"halubench", "fib"} & set(benchmarks)


def planned(makefile: str, *words: str) -> list[list[str]]:
    """The commands that make would run."""
    command = ["make", "--no-print-directory", "-n", "-B", "-f", makefile, *words]
    run = subprocess.run(command, env=MAKE_ENVIRONMENT, capture_output=True, text=True, check=True)
    return [shlex.split(line) for line in run.stdout.splitlines()]


ABLATIONS = {
    "base": [],
    "sft-only": ["data", "sft"],
    "whole": ["data", "sft", "merge", "dpo"],
    "one-teacher": ["data", "sft"],
    "backward": ["data", "sft"],
}


@pytest.mark.parametrize("size", ["7b", "14b"])
@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_is_one_command(name: str, size: str) -> None:
    makefile = "recipes/bian-7b/Makefile"
    assert f"make -f {makefile} {name} " in Path(makefile).with_name("README.md").read_text(encoding="utf-8")
    *steps, measure = planned(makefile, name, f"SIZE={size}", "EVAL=--limit 200")
    assert [words[1] if words[0] == "judge" else Path(words[6]).stem for words in steps] == ABLATIONS[name]
    for words in (*steps, measure):
        (check_judge if words[0] == "judge" else check_launch)(words[words[0] == "judge" :])
    told = " ".join(measure)
    assert (
        "bianbench_en,bianbench_zh" in told
        and "--runs 3 --temperature 0.8 --set top_p=0.7 --limit 200" in told
    )
    made = f"runs/bian-{size}/ablations/{name}/{'dpo' if name == 'whole' else 'sft'}"
    judge = f"Qwen/Qwen2.5-{size.upper()}-Instruct" if name == "base" else made
    assert measure[measure.index("--model") + 1] == judge


def test_a_judge_in_two_stages_is_one_command() -> None:
    """Every step takes what a step before it made, and the judge is measured on held-out rows."""
    steps = planned("recipes/reference/Makefile")
    judge = [words for words in steps if words[0] == "judge"]
    for words in judge:
        check_judge(words[1:])
    assert measures_on_held_out(judge[-1])
    made = {words[words.index("--out") + 1] for words in judge if "--out" in words}
    for words in judge:
        settings = dict(word.split("=", 1) for word in words if re.match("(model|data|output)=", word))
        if settings:
            assert settings["data"] in made
            assert settings.get("model") in made or words[2].endswith("inference.yaml")
            made.add(settings["output"])
    assert {"runs/reference/seed0/labelled", "runs/reference/seed0/pages"} <= made


@pytest.mark.parametrize("page", DOCS, ids=lambda path: path.stem)
def test_pages_name_what_is_there(page: Path) -> None:
    """Scripts, tests and configs that a page names."""
    text = page.read_text(encoding="utf-8")
    scripts = {f"benchmarks/{name}.py" for name in re.findall(r"-m benchmarks\.(\w+)", text)}
    named = scripts | set(
        re.findall(
            r"(?<![\w/])(?:tests|benchmarks|recipes|accelerate_configs)/[\w./-]+\.(?:py|yaml|json)\b", text
        )
    )
    assert [path for path in sorted(named) if not Path(path).is_file()] == []
