"""``judge merge``: tensor by tensor, with the numbers of PEFT's own merge of the whole model in float32."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from judge.errors import InputError, JudgeError
from judge.models.weights import load_weights
from judge.training.merge import merge
from tests.calling import ModelFolder


@pytest.fixture
def make(model_folder: ModelFolder, tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A base and an adapter of it: settings of the base, of how it is saved, and of the adapter."""

    def call(
        dtype: str = "float32",
        shard: str = "50GB",
        tied: bool = False,
        quantization: str | None = None,
        **lora: Any,
    ) -> tuple[Path, Path]:
        base, adapter = tmp_path / "base", tmp_path / "adapter"
        shutil.copytree(model_folder("chatml"), base)
        model = AutoModelForCausalLM.from_pretrained(base, dtype=getattr(torch, dtype))
        if tied:
            model.config.tie_word_embeddings = True
            model.tie_weights()
        (base / "model.safetensors").unlink()
        model.save_pretrained(base, max_shard_size=shard)
        keys = {"r": 4, "target_modules": "all-linear", "init_lora_weights": False, **lora}
        peft = get_peft_model(model.float(), LoraConfig(task_type="CAUSAL_LM", **keys))
        peft.peft_config["default"].base_model_name_or_path = str(base)
        peft.save_pretrained(adapter, save_embedding_layers=False)
        if quantization:
            recipe = {"recipe": {"quantization": quantization}, "versions": {}}
            (adapter / "judge.json").write_text(json.dumps(recipe))
        return base, adapter

    return call


def merge_whole(adapter: Path, folder: Path, dtype: str, shard: str, quantization: str | None) -> None:
    """The same with all of the model in memory, by transformers and PEFT."""
    model, tokenizer = load_weights(
        str(adapter),
        precision="float32",
        quantization="nf4" if quantization else None,
        dequantize=True,
    )
    model.merge_and_unload().to(getattr(torch, dtype)).save_pretrained(folder, max_shard_size=shard)
    tokenizer.save_pretrained(folder)


def stored_tensors(folder: Path) -> dict[str, Any]:
    """All tensors of a model folder."""
    return {name: value for file in folder.glob("*.safetensors") for name, value in load_file(file).items()}


@pytest.mark.parametrize(
    ("stored", "lora"),
    [
        ({}, {}),
        ({"dtype": "bfloat16", "shard": "20KB"}, {"r": 3, "lora_alpha": 5}),
        ({"dtype": "float16", "tied": True}, {"target_modules": ["q_proj", "down_proj"]}),
        (
            {"dtype": "bfloat16"},
            {
                "use_rslora": True,
                "rank_pattern": {"q_proj": 2, "layers.1.mlp.up_proj": 8},
                "alpha_pattern": {"k_proj": 3},
                "layers_to_transform": [1],
                "target_modules": ["q_proj", "k_proj", "up_proj"],
            },
        ),
        ({}, {"target_modules": ["q_proj", "lm_head"]}),
        ({"dtype": "bfloat16", "shard": "20KB", "quantization": "nf4"}, {}),
        ({"dtype": "bfloat16", "tied": True, "quantization": "nf4"}, {"target_modules": ["v_proj"]}),
    ],
    ids=["plain", "shards", "tied", "patterns", "head", "nf4-shards", "nf4-some"],
)
def test_the_numbers_are_those_of_the_merge_in_one_piece(
    stored: dict[str, Any],
    lora: dict[str, Any],
    make: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base, adapter = make(**stored, **lora)
    dtype, shard = stored.get("dtype", "float32"), stored.get("shard", "50GB")
    merge_whole(adapter, tmp_path / "whole", dtype, shard, stored.get("quantization"))
    monkeypatch.setattr("judge.training.merge.model_card", lambda identity: "")
    told = merge(str(adapter), tmp_path / "merged", "base")
    assert (told.dtype, told.base) == (dtype, str(base)) and bool(told.rounding) is (dtype != "float32")
    assert len([*(tmp_path / "merged").glob("*.safetensors")]) == 1
    before, whole, merged = (stored_tensors(tmp_path / name) for name in ("base", "whole", "merged"))
    assert before.keys() == merged.keys() == whole.keys()
    for name, value in merged.items():
        assert value.dtype is whole[name].dtype and value.equal(whole[name]), name
    assert any(not value.equal(before[name]) for name, value in merged.items())
    for name in ("config.json", "generation_config.json"):
        assert (tmp_path / "merged" / name).read_bytes() == (base / name).read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("stored", "dtype"),
    [("bfloat16", "float32"), ("bfloat16", "float16"), ("float32", "bfloat16")],
)
def test_merged_weights_are_written_in_the_format_that_is_asked_for(
    stored: str, dtype: str, make: Any, tmp_path: Path
) -> None:
    """... by default in float32, whatever the base is in: nothing of the adapter is rounded away."""
    _, adapter = make(dtype=stored)
    told = merge(str(adapter), tmp_path / "merged", *([] if dtype == "float32" else [dtype]))
    merge_whole(adapter, tmp_path / "whole", dtype, "50GB", None)
    merge_whole(adapter, tmp_path / "exact", "float32", "50GB", None)
    whole, merged = (stored_tensors(tmp_path / name) for name in ("whole", "merged"))
    assert all(value.equal(whole[name]) for name, value in merged.items())
    exact, before, found = (
        AutoModelForCausalLM.from_pretrained(tmp_path / name, dtype="auto")
        for name in ("exact", "base", "merged")
    )
    assert found.dtype is getattr(torch, dtype) and told.dtype == dtype
    adapted = [name for name in exact.state_dict() if "proj" in name]
    moved, lost = (
        sum(
            float((exact.get_parameter(name) - other.get_parameter(name).float()).square().sum().detach())
            for name in adapted
        )
        for other in (before, found)
    )
    assert told.rounding == pytest.approx((lost / moved) ** 0.5, rel=1e-3)
    assert told.size == sum(value.nbytes for value in found.state_dict().values())


def test_several_files_in_another_format(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their index and the config tell what is in them."""
    base, adapter = make(dtype="bfloat16", shard="20KB")
    monkeypatch.setattr("judge.models.checkpoint.SHARD", 30_000)
    told = merge(str(adapter), tmp_path / "merged")
    index = json.loads((tmp_path / "merged" / "model.safetensors.index.json").read_text())
    files = {path.name for path in (tmp_path / "merged").glob("*.safetensors")}
    assert {*index["weight_map"].values()} == files and len(files) > 3
    assert (
        told.size
        == index["metadata"]["total_size"]
        == 2 * sum(value.nbytes for value in stored_tensors(base).values())
    )
    config = json.loads((tmp_path / "merged" / "config.json").read_text())
    assert config == json.loads((base / "config.json").read_text()) | {"dtype": "float32"}
    AutoModelForCausalLM.from_pretrained(tmp_path / "merged")


def test_a_number_that_is_too_large_leaves_nothing(make: Any, tmp_path: Path) -> None:
    base, adapter = make()
    for name in ("model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight"):
        weights = load_file(base / "model.safetensors")
        weights[name][0, 0] = 1e6
        save_file(weights, base / "model.safetensors", {"format": "pt"})
        with pytest.raises(JudgeError, match=f"{name} holds a number that is too large for float16"):
            merge(str(adapter), tmp_path / "merged", "float16")
        assert not (tmp_path / "merged").exists()
        merge(str(adapter), tmp_path / "merged", "bfloat16")
        shutil.rmtree(tmp_path / "merged")
        weights[name][0, 0] = 0
        save_file(weights, base / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("lora", "message"),
    [
        ({"use_dora": True}, "is a variant of LoRA"),
        ({"layer_replication": [[0, 2], [0, 2]]}, "is a variant of LoRA"),
        ({"lora_bias": True}, "lora_B.bias; only the two"),
        ({"modules_to_save": ["lm_head"], "target_modules": ["q_proj"]}, "lm_head.weight; only the two"),
        ({"init_lora_weights": "olora"}, "began as 'olora', which changes the base too"),
        ({"tied": True, "target_modules": ["lm_head"]}, "adapts lm_head.weight, which .* does not hold"),
        ({"target_modules": ["embed_tokens"]}, "embed"),
    ],
)
def test_what_is_not_plain_is_refused(lora: dict[str, Any], message: str, make: Any, tmp_path: Path) -> None:
    _, adapter = make(**lora)
    with pytest.raises(InputError, match=message):
        merge(str(adapter), tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_refuses_what_it_has_not(make: Any, tmp_path: Path) -> None:
    base, adapter = make()
    config = json.loads((base / "config.json").read_text())
    quantized = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    (base / "config.json").write_text(json.dumps({**config, "quantization_config": quantized}))
    with pytest.raises(InputError, match=r"stored quantized; name a base with plain ones"):
        merge(str(adapter), tmp_path / "merged")
    (adapter / "adapter_model.safetensors").unlink()
    (base / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"as safetensors"):
        merge(str(adapter), tmp_path / "merged")
    shutil.rmtree(base)
    with pytest.raises(InputError, match=r"the base model is missing"):
        merge(str(adapter), tmp_path / "merged")


def test_a_full_disk_leaves_nothing(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, adapter = make()
    monkeypatch.setattr(
        "safetensors.torch.save_file", mock.Mock(side_effect=OSError(28, "No space left on device"))
    )
    before = sorted(tmp_path.iterdir())
    with pytest.raises(JudgeError, match=r"merged: could not be written \(No space left on device\)"):
        merge(str(adapter), tmp_path / "merged")
    assert sorted(tmp_path.iterdir()) == before


def test_a_damaged_file_is_named(make: Any, tmp_path: Path) -> None:
    base, adapter = make()
    whole = (base / "model.safetensors").read_bytes()
    (base / "model.safetensors").write_bytes(whole[:-10])
    with pytest.raises(JudgeError, match=r"model.safetensors: the weights could not be loaded"):
        merge(str(adapter), tmp_path / "merged")
