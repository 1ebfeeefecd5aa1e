"""Recipes by name, and copies of them."""

from pathlib import Path

import pytest

from judge import shipped
from judge.calibration.curve import read_calibrations
from judge.cli.options import introduce
from judge.errors import InputError, JudgeError
from judge.models import base
from judge.models.identity import read_identity
from judge.shipped import (
    LAUNCH_CONFIGS,
    RECIPES,
    REFERENCE_1_5B,
    copy_recipes,
    find_recipe,
    model_path,
)
from tests.calling import call


@pytest.mark.parametrize(
    ("given", "stage", "found"),
    [
        ("demo", "sft", "demo/sft.yaml"),
        ("demo/dpo", "sft", "demo/dpo.yaml"),
        ("reference/encoder-inference", "encoder", "reference/encoder-inference.yaml"),
    ],
)
def test_a_recipe_by_its_name(given: str, stage: str, found: str) -> None:
    assert find_recipe(Path(given), stage) == RECIPES / found


def test_a_file_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    assert find_recipe(Path("demo"), "sft") == RECIPES / "demo" / "sft.yaml", "a folder is not a recipe"
    (tmp_path / "t4").write_text("model: m")
    assert find_recipe(Path("t4"), "sft") == Path("t4")
    missing = Path("recipes/demo/sft.yaml")  # nobody may get the shipped one who means one of their own
    assert find_recipe(missing, "sft") == missing


@pytest.mark.parametrize(
    ("given", "stage", "error"),
    [
        ("dmeo", "sft", "did you mean 'demo'"),
        ("bianbench", "dpo", r"recipe bianbench has no dpo\.yaml \(it has: data, data-counterfactual\)"),
        # What is named instead has the file.
        ("refer", "encoder", r"did you mean 'reference'\? \(known: demo, own-domain, reference\)"),
        ("lynx-8b", "encoder", r"; with encoder\.yaml: demo, own-domain, reference$"),
        ("lynx-llama3-8b/sft", "sft", "did you mean 'lynx-8b'"),
        ("mine.jsonl", "data", r"mine\.jsonl: holds rows.* judge teach mine\.jsonl .* sources\.0\.path=mine"),
        ("mine.xlsx", "sft", "holds rows, but a recipe, a YAML file, is expected"),
        (".", "encoder", r"is a folder; name a file in it, such as encoder\.yaml"),
    ],
)
def test_what_is_no_recipe(
    given: str, stage: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=error):
        find_recipe(Path(given), stage)


def test_copies_are_laid_out_as_in_the_repository(tmp_path: Path) -> None:
    assert copy_recipes(["demo"], tmp_path) == [tmp_path / "recipes" / "demo"]
    copied = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    expected = {Path("recipes", "demo", path.name) for path in (RECIPES / "demo").iterdir()}
    expected |= {Path("recipes", name) for name in ("sft.py", "dpo.py", "encoder.py")}
    expected |= {Path("accelerate_configs", path.name) for path in LAUNCH_CONFIGS.glob("*.yaml")}
    assert copied == expected
    copy_recipes(["demo", "t4"], tmp_path)  # what is the same stays


def test_changed_files_are_never_overwritten(tmp_path: Path) -> None:
    own = tmp_path / "recipes" / "demo" / "sft.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(InputError, match=r"sft\.yaml: is there already and was changed"):
        copy_recipes(["demo"], tmp_path)
    assert own.read_text() == "mine" and [path for path in tmp_path.rglob("*") if path.is_file()] == [own]
    with pytest.raises(JudgeError, match=r"sft\.yaml.*: could not be written \(Not a directory\)"):
        copy_recipes(["demo"], own)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["demo"], ["demo", "--copy", str(tmp_path)]):
        assert call("recipes", *arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(shipped.recipe_names()) + 2 + 1
    assert printed[-2:] == [str(RECIPES / "demo"), str(tmp_path / "recipes" / "demo")]
    assert call("recipes", "dmeo") == 2 and "did you mean 'demo'" in capsys.readouterr().err


def test_the_language_model_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(model_path(REFERENCE_1_5B))
    identity = read_identity(REFERENCE_1_5B)
    assert identity["base"] == {"name": "Qwen/Qwen2.5-Coder-1.5B-Instruct"}
    told = "".join((folder / file).read_text() for file in ("judge.json", "adapter_config.json", "README.md"))
    assert '"/' not in told, "no place of the machine that trained it"
    assert read_calibrations(REFERENCE_1_5B)["verdict"]
    introduce(REFERENCE_1_5B)
    said = capsys.readouterr().err
    assert "a language model of 1544M" in said
    assert f"{identity['measured']['balanced_accuracy']:.1f} %" in said


def test_a_judge_of_the_toolkit_by_its_name() -> None:
    """Wherever a model is named: its adapter lies in the package, its base on the Hub."""
    assert base.find_model("reference-1.5b") == (
        "Qwen/Qwen2.5-Coder-1.5B-Instruct",
        str(shipped.PACKAGE / "reference_1_5b"),
    )
