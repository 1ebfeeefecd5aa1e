"""Recipes by name, and copies of them."""

from pathlib import Path

import pytest

from judge import shipped
from judge.cli.main import main
from judge.errors import InputError
from judge.shipped import LAUNCH_CONFIGS, RECIPES, copy_recipes, find_recipe


@pytest.mark.parametrize(
    ("given", "stage", "found"),
    [
        ("demo", "sft", "demo/sft.yaml"),
        ("demo", "data", "demo/data.yaml"),
        ("demo/dpo", "sft", "demo/dpo.yaml"),
        ("lynx-llama3-8b/sft-corrected", "sft", "lynx-llama3-8b/sft-corrected.yaml"),
        ("bian-qwen2.5-7b", "dpo", "bian-qwen2.5-7b/dpo.yaml"),
    ],
)
def test_a_recipe_by_its_name(given: str, stage: str, found: str) -> None:
    assert find_recipe(Path(given), stage) == RECIPES / found


def test_a_file_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    assert find_recipe(Path("demo"), "sft") == RECIPES / "demo" / "sft.yaml", "a folder is no recipe"
    (tmp_path / "ragtruth").write_text("model: m")
    assert find_recipe(Path("ragtruth"), "sft") == Path("ragtruth")
    missing = Path("recipes/demo/sft.yaml")  # nobody may get the shipped one who means one of their own
    assert find_recipe(missing, "sft") == missing


@pytest.mark.parametrize(
    ("given", "stage", "error"),
    [
        ("dmeo", "sft", "did you mean 'demo'"),
        ("ragtruth", "dpo", r"recipe ragtruth has no dpo\.yaml \(it has: data, sft\)"),
        ("demo/sfd", "sft", r"has no sfd\.yaml"),
    ],
)
def test_what_is_no_recipe(given: str, stage: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        find_recipe(Path(given), stage)


def test_copies_are_laid_out_as_in_the_repository(tmp_path: Path) -> None:
    assert copy_recipes(["demo"], tmp_path) == [tmp_path / "recipes" / "demo"]
    copied = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    expected = {Path("recipes", "demo", path.name) for path in (RECIPES / "demo").iterdir()}
    expected |= {Path("recipes", name) for name in ("sft.py", "dpo.py", "encoder.py")}
    expected |= {Path("accelerate_configs", path.name) for path in LAUNCH_CONFIGS.glob("*.yaml")}
    assert copied == expected
    copy_recipes(["demo", "ragtruth"], tmp_path)  # what is the same stays


def test_changed_files_are_never_overwritten(tmp_path: Path) -> None:
    own = tmp_path / "recipes" / "demo" / "sft.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(InputError, match=r"sft\.yaml: is there already and was changed"):
        copy_recipes(["demo"], tmp_path)
    assert own.read_text() == "mine" and [path for path in tmp_path.rglob("*") if path.is_file()] == [own]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["demo"], ["demo", "--copy", str(tmp_path)]):
        with pytest.raises(SystemExit) as caught:
            main(["recipes", *arguments])
        assert not caught.value.code
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(shipped.recipe_names()) + 2 + 1
    assert printed[-2:] == [str(RECIPES / "demo"), str(tmp_path / "recipes" / "demo")]
    with pytest.raises(SystemExit) as caught:
        main(["recipes", "dmeo"])
    assert caught.value.code == 2 and "did you mean 'demo'" in capsys.readouterr().err
