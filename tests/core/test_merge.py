"""``judge merge``: tensor by tensor, with the bytes of PEFT's own merge of the whole model in float32."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.errors import InputError, JudgeError
from judge.models.checkpoint import Checkpoint
from judge.models.conversion import converted
from judge.training.merge import merge

ModelFolder = Callable[[str], Path]


@pytest.fixture
def make(model_folder: ModelFolder, tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A base and an adapter of it: settings of the base, of how it is saved, and of the adapter."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

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
    import torch

    from judge.models.weights import load_weights

    model, tokenizer = load_weights(
        str(adapter),
        precision="float32",
        quantization="nf4" if quantization else None,
        dequantize=True,
    )
    model.merge_and_unload().to(getattr(torch, dtype)).save_pretrained(folder, max_shard_size=shard)
    tokenizer.save_pretrained(folder)


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
def test_the_bytes_are_those_of_the_merge_in_one_piece(
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
    files = sorted(path.name for path in (tmp_path / "whole").glob("*.safetensors*"))
    assert files == sorted(path.name for path in (tmp_path / "merged").glob("*.safetensors*"))
    assert len(files) > 3 if "shard" in stored else files == ["model.safetensors"]
    changed = 0
    for name in files:
        merged = (tmp_path / "merged" / name).read_bytes()
        assert merged == (tmp_path / "whole" / name).read_bytes(), name
        changed += merged != (base / name).read_bytes()
    assert changed
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
    import torch
    from transformers import AutoModelForCausalLM

    _, adapter = make(dtype=stored)
    told = merge(str(adapter), tmp_path / "merged", *([] if dtype == "float32" else [dtype]))
    merge_whole(adapter, tmp_path / "whole", dtype, "50GB", None)
    merge_whole(adapter, tmp_path / "exact", "float32", "50GB", None)
    file = "model.safetensors"
    assert (tmp_path / "merged" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
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


def test_shards_in_another_format(make: Any, tmp_path: Path) -> None:
    """The files keep their names; their index and the config tell what is in them."""
    from transformers import AutoModelForCausalLM

    base, adapter = make(dtype="bfloat16", shard="20KB")
    told = merge(str(adapter), tmp_path / "merged")
    indexes = [
        json.loads((folder / "model.safetensors.index.json").read_text())
        for folder in (base, tmp_path / "merged")
    ]
    assert indexes[0]["weight_map"] == indexes[1]["weight_map"]
    assert told.size == indexes[1]["metadata"]["total_size"] == 2 * indexes[0]["metadata"]["total_size"]
    config = json.loads((tmp_path / "merged" / "config.json").read_text())
    assert config == json.loads((base / "config.json").read_text()) | {"dtype": "float32"}
    AutoModelForCausalLM.from_pretrained(tmp_path / "merged")


def test_a_copy_in_another_format_holds_the_same_tensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Odd sizes, none at all, whole numbers between; read in pieces that are smaller than a tensor."""
    import torch
    from safetensors.torch import load_file, save_file

    monkeypatch.setattr("judge.models.conversion.PIECE", 16)
    tensors = {
        "odd": torch.randn(3, 5, 3), "half": torch.randn(7).half(), "count": torch.arange(9),
        "mask": torch.tensor([True, False, True]), "nothing": torch.empty(0, 4), "one": torch.tensor(1.5),
    }  # fmt: skip
    save_file(tensors, tmp_path / "model.safetensors")
    for dtype in ("float32", "bfloat16", "float16"):
        (tmp_path / dtype).mkdir()
        copy = converted(Checkpoint([tmp_path / "model.safetensors"]), tmp_path / dtype, dtype)
        found = load_file(copy.files[0])
        assert set(found) == set(tensors)
        for name, value in tensors.items():
            wanted = value.to(getattr(torch, dtype)) if value.is_floating_point() else value
            assert found[name].dtype is wanted.dtype and found[name].equal(wanted), name


def test_a_number_that_is_too_large_leaves_nothing(make: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

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
    with pytest.raises(InputError, match=r"wanted as safetensors"):
        merge(str(adapter), tmp_path / "merged")
    shutil.rmtree(base)
    with pytest.raises(InputError, match=r"the base model is missing"):
        merge(str(adapter), tmp_path / "merged")


def test_a_full_disk_leaves_nothing(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, adapter = make()
    left = iter(range(5))

    def write(self: Checkpoint, name: str, value: Any) -> None:
        if next(left, None) is None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Checkpoint, "write", write)
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
