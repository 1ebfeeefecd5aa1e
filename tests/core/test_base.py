"""Where an adapter's base lies: it is found from any working directory, and after both have moved."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from judge.errors import InputError
from judge.load import load_judge
from judge.models.base import ORIGIN_FILE, describe_base, find_base, find_model
from judge.training.config import SFTRecipe
from judge.training.merge import merge
from judge.training.sft import train_sft
from judge.types import Sample
from tests.tiny_data import build_towers, training

SAMPLES = [Sample("1", "The tower is 30 m high.", "It is 30 m high.", "How high is it?")]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, model_folder: Any) -> Path:
    """A folder with a model and a judge that was trained from it in the folder above, by a relative path."""
    root = tmp_path_factory.mktemp("world")
    (root / "runs").mkdir()
    shutil.copytree(model_folder("chatml"), root / "runs/model")
    build_towers(root, documents=8, pairs=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        recipe = training(Path("runs/model"), root / "data", Path("runs/sft"), max_steps=1)
        train_sft(SFTRecipe.model_validate(recipe))
    return root


def p_fail(model: Path) -> float:
    [verdict] = load_judge(str(model), precision="float32").check(SAMPLES)
    assert verdict.p_fail is not None
    return verdict.p_fail


@pytest.mark.filterwarnings("ignore")
def test_a_judge_answers_from_elsewhere_moved_copied_and_merged(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = p_fail(world / "runs/sft")
    monkeypatch.chdir(tmp_path)
    assert p_fail(world / "runs/sft") == expected
    shutil.copytree(world / "runs/sft", tmp_path / "alone")  # its base still lies where it lay
    assert p_fail(tmp_path / "alone") == expected
    merge(str(tmp_path / "alone"), tmp_path / "merged")
    assert p_fail(tmp_path / "merged") == pytest.approx(expected, abs=1e-3)
    shutil.copytree(world / "runs", tmp_path / "moved/runs")
    both = find_model(str(tmp_path / "moved/runs/sft"))
    assert both == (str(tmp_path / "moved/runs/model"), str(tmp_path / "moved/runs/sft"))
    assert p_fail(tmp_path / "moved/runs/sft") == expected


def adapter(folder: Path, base: str, kept: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
    if kept is not None:
        (folder / "judge.json").write_text(json.dumps({"base": kept}))
    return folder


def weights(folder: Path, content: bytes) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(content)
    return folder


def test_a_name_on_the_hub_stays_one(tmp_path: Path) -> None:
    assert describe_base("org/model", tmp_path) == {"name": "org/model"}
    assert find_base(adapter(tmp_path / "a", "org/model", {"name": "org/model"})) == "org/model"


def test_weights_from_the_hub_keep_their_name(tmp_path: Path) -> None:
    folder = weights(tmp_path / "model", b"1")
    assert describe_base(str(folder), tmp_path / "sft")["name"] == "model"
    (folder / ORIGIN_FILE).write_text('{"model": "org/model"}')
    assert describe_base(str(folder), tmp_path / "sft")["name"] == "org/model"


def test_the_weights_that_it_was_trained_on_are_preferred(tmp_path: Path) -> None:
    right = weights(tmp_path / "runs/model", b"1")
    kept = describe_base(str(right), tmp_path / "runs/sft")
    other = weights(tmp_path / "other/model", b"2")
    moved = adapter(tmp_path / "other/sft", str(right), kept)
    assert find_base(moved) == str(right)
    shutil.rmtree(right)
    with pytest.warns(UserWarning, match="not those"):
        assert find_base(moved) == str(other)


def test_a_base_that_is_gone_is_told_with_the_places(tmp_path: Path) -> None:
    gone = weights(tmp_path / "runs/model", b"1")
    judge = adapter(tmp_path / "runs/sft", str(gone), describe_base(str(gone), tmp_path / "runs/sft"))
    shutil.rmtree(gone)
    with pytest.raises(
        InputError, match=r"the base model is missing \(looked in .*model.*judge merge"
    ) as caught:
        find_base(judge)
    assert caught.value.exit_code == 2
    with pytest.raises(InputError, match="the base model is missing"):
        find_base(adapter(tmp_path / "foreign", "no/such/model"))


def test_what_is_no_list_of_samples_is_named() -> None:
    sample = Sample("1", "The tower is 20 m high.", "It is 20 m high.")
    with pytest.raises(InputError, match="'samples': is one Sample; give a list"):
        load_judge("baseline:overlap").check(sample)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"item 1 is of type dict; give a list of judge\.Sample"):
        load_judge("baseline:overlap").check([sample, {"document": "d"}])  # type: ignore[list-item]


def test_a_folder_of_a_stopped_training_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is not a model folder"):
        find_model(str(tmp_path))
    with pytest.raises(InputError, match=r"is an encoder, not a language model; .* judge encoder"):
        find_model("judge/reference")
    encoder = tmp_path / "encoder"  # one with a config of its own, as a plain cross-encoder has it
    encoder.mkdir()
    (encoder / "config.json").write_text("{}")
    assert find_model(str(encoder)) == (str(encoder), None)
    (encoder / "judge.json").write_text('{"stage": "encoder"}')
    with pytest.raises(InputError, match="is an encoder, not a language model"):
        find_model(str(encoder))
    (tmp_path / "checkpoint-23").mkdir()
    with pytest.raises(InputError, match="holds checkpoints alone: its training was stopped"):
        find_model(str(tmp_path))
