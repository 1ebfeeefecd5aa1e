"""Decoders written out: they say what transformers says, and what they are not goes the usual way."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.load import load_judge
from judge.models.plain import plain_config, read_plain
from judge.types import Sample
from tests.conftest import tiny_tokenizer

DOCUMENT = "The tower is 20 m high. It was built by a king. "
SAMPLES = [
    Sample("a", DOCUMENT, "It is 21 m high.", "How high is it?"),
    Sample("b", DOCUMENT, "It is 20 m high.", "How high is it?"),
    Sample("c", DOCUMENT * 8, "A king built it.", "Who built it?"),
    Sample("d", "塔高20米。", "塔高21米。", language="zh"),
]


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A tiny random decoder of a kind, its head tied to its words, in two files."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    def make(kind: str) -> Path:
        folder = tmp_path_factory.getbasetemp() / kind
        if not folder.exists():
            tokenizer = tiny_tokenizer("chatml")
            torch.manual_seed(0)
            config = AutoConfig.for_model(
                kind, vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                num_attention_heads=4, num_key_value_heads=2, head_dim=16, initializer_range=0.3,
                max_position_embeddings=4096, tie_word_embeddings=True, rope_theta=5e5,
            )  # fmt: skip
            model = AutoModelForCausalLM.from_config(config)
            for name, value in model.named_parameters():  # biases and norms begin as noughts and ones
                if value.ndim == 1:
                    torch.nn.init.normal_(value, float("norm" in name), 0.3)
            model.save_pretrained(folder, max_shard_size="60KB")
            tokenizer.save_pretrained(folder)
            assert len(list(folder.glob("model*.safetensors"))) > 1
        return folder

    return make


def both(model: Path, **settings: Any) -> tuple[list[Any], list[Any]]:
    """Verdicts of a judge that starts without transformers, and of one that does not."""
    quick = load_judge(str(model), quick=True, **settings)
    usual = load_judge(str(model), **settings)
    kinds = [type(judge.backend.model).__name__ for judge in (quick, usual)]  # type: ignore[attr-defined]
    assert kinds[0] == "PlainDecoder" != kinds[1]
    assert quick.describe() == usual.describe()
    return quick.check(SAMPLES), usual.check(SAMPLES)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("bfloat16", 2e-2), ("int8", 1e-2)])
def test_verdicts_are_those_of_transformers(
    decoder: Callable[[str], Path], kind: str, precision: str, tolerance: float
) -> None:
    """Trees and single rows, short ones and those in blocks; same tokens read."""
    ours, theirs = both(decoder(kind), precision=precision)
    assert [one.usage for one in ours] == [one.usage for one in theirs]
    expected = [one.p_fail for one in theirs]
    assert [one.p_fail for one in ours] == pytest.approx(expected, abs=tolerance)
    assert len(set(expected)) == len(expected)


def test_an_adapter_is_added(model_folder: Callable[[str], Path]) -> None:
    for ours, theirs in zip(*both(model_folder("adapter"), precision="float32"), strict=True):
        assert ours.p_fail == pytest.approx(theirs.p_fail, abs=1e-5)


@pytest.mark.parametrize("settings", [{"mode": "reason"}, {"quantization": "nf4"}, {"compiled": True}])
def test_what_needs_transformers_gets_it(
    model_folder: Callable[[str], Path], settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.backends.transformers.compile_layers", lambda _: None)
    judge = load_judge(str(model_folder("chatml")), quick=True, **settings)
    assert "PlainDecoder" not in type(judge.backend.model).__name__  # type: ignore[attr-defined]


@pytest.mark.parametrize("tokenizer", [{"add_bos_token": True}, {"split_special_tokens": True}])
def test_other_tokenizers_are_read_by_transformers(
    model_folder: Callable[[str], Path], tmp_path: Path, tokenizer: dict[str, Any]
) -> None:
    folder = shutil.copytree(model_folder("chatml"), tmp_path / "model")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **tokenizer}))
    judge = load_judge(str(folder), quick=True)
    assert type(judge.backend.model).__name__ == "LlamaForCausalLM"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "gemma"}, {"attention_bias": True}, {"sliding_window": 8}, {"hidden_act": "gelu"},
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}},
        {"layer_types": ["full_attention", "sliding_attention"]}, {"quantization_config": {"bits": 4}},
    ],
)  # fmt: skip
def test_other_decoders_are_not_read(model_folder: Callable[[str], Path], change: dict[str, Any]) -> None:
    config = json.loads((model_folder("chatml") / "config.json").read_text())
    assert plain_config(config) is not None
    assert plain_config({**config, **change}) is None


def test_what_a_config_leaves_out_is_left_to_transformers(
    model_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(model_folder("chatml"), tmp_path / "model")
    file = folder / "config.json"
    config = json.loads(file.read_text())
    for name in ("rms_norm_eps", "num_key_value_heads"):  # the second has another default in Qwen2
        file.write_text(json.dumps({key: value for key, value in config.items() if key != name}))
        assert read_plain(folder, None, "float32") is None


def test_other_adapters_are_not_added(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    adapter = shutil.copytree(model_folder("adapter"), tmp_path / "adapter")
    file = adapter / "adapter_config.json"
    settings = json.loads(file.read_text())
    assert read_plain(model_folder("chatml"), adapter, "float32") is not None
    for change in ({"use_dora": True}, {"bias": "all"}, {"peft_type": "IA3"}, {"rank_pattern": {"q": 2}}):
        file.write_text(json.dumps({**settings, **change}))
        assert read_plain(model_folder("chatml"), adapter, "float32") is None
