"""``judge doctor``: sizes from a config, the estimate beside real tensors, its answers."""

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import LoraConfig, get_peft_model
from peft.tuners.tuners_utils import BaseTunerLayer
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from judge.errors import InputError
from judge.models import architecture
from judge.models.architecture import Architecture, parse_architecture, read_architecture
from judge.models.attention import register
from judge.models.hardware import GIB, KNOWN_DEVICES, Device
from judge.models.heads import float32_head
from judge.models.prefix_tree import make_tree, pad, tree_mask
from judge.training.config import DPORecipe, SFTRecipe, TrainingConfig
from judge.training.memory import LABEL_SHARE, estimate, layer_bytes, sequences_of
from tests.calling import ModelFolder, Ran, Refused, call

QWEN_7B = {
    "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
    "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": False,
}  # fmt: skip
QLORA = {
    "quantization": "nf4", "batch_size": 1, "gradient_accumulation": 16, "gradient_checkpointing": True,
    "max_length": 2048, "sequence_tokens": 2048,
}  # fmt: skip
BASE = {"model": "m", "data": "d", "output": "o"}


@pytest.fixture
def qwen(tmp_path: Path) -> Path:
    """Folder with the config of Qwen2.5-7B, and nothing else."""
    folder = tmp_path / "qwen"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(QWEN_7B))
    return folder


@pytest.fixture
def ask(qwen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run the command on a recipe for Qwen2.5-7B; returns its exit code and what it printed."""

    def ask(keys: dict[str, Any], *arguments: str, name: str = "sft.yaml") -> tuple[int, str]:
        recipe = tmp_path / name
        recipe.write_text(yaml.safe_dump({**BASE, "model": str(qwen), **keys}))
        code, said = call("doctor", recipe, *arguments), capsys.readouterr()
        return code, said.out + said.err

    return ask


def needed(text: str) -> float:
    found = re.search(r"needed at the peak\W+([0-9.]+)", text)
    assert found
    return float(found[1])


# --- Yes, no, by how much -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sft.yaml", "dpo.yaml"])
@pytest.mark.parametrize("where", [["--device", "t4"], ["--device", "l4", "--memory", "15.5 GiB"]])
def test_qlora_of_7_billion_fits_16_gb(where: list[str], name: str, ask: Any) -> None:
    keys = {key: value for key, value in QLORA.items() if name == "sft.yaml" or key != "sequence_tokens"}
    code, text = ask(keys, *where, name=name)
    assert code == 0 and "yes: it fits" in text and "7.62 billion" in text
    assert 6 < needed(text) < 14


def test_full_fine_tuning_of_7_billion_does_not(ask: Any) -> None:
    code, text = ask(
        {**QLORA, "quantization": None, "lora": None, "precision": "bfloat16"}, "--memory", "16GB"
    )
    assert code == 1 and needed(text) > 100  # 16 bytes a parameter
    more = needed(text) - 16e9 / GIB
    assert f"no: it takes {more:.1f}" in text and "quantization=nf4" in text


def test_overrides_and_another_config(ask: Any, tmp_path: Path) -> None:
    small = tmp_path / "small.json"
    small.write_text(json.dumps({**QWEN_7B, "num_hidden_layers": 2}))
    _, text = ask({**QLORA, "model": "owner/not-here"}, "--device", "t4", "--config", str(small))
    assert "owner/not-here, 1.56 billion" in text
    plain, longer = (needed(ask(QLORA, "--device", "h100", *more)[1]) for more in ([], ["max_length=8192"]))
    assert longer > plain


@pytest.mark.parametrize(
    ("model", "billions"),  # as their authors count them; Qwen's biases are not in the sizes
    [
        ("HuggingFaceTB/SmolLM2-135M-Instruct", 0.1345),
        ("Qwen/Qwen2.5-7B-Instruct", 7.6156),
        ("meta-llama/Meta-Llama-3-8B-Instruct", 8.0303),
    ],
)
def test_models_that_recipes_name_are_known_without_a_network(
    model: str, billions: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(architecture, "_from_hub", lambda name: pytest.fail(f"asked the Hub for {name}"))
    found = read_architecture(model)
    assert (found.linear_parameters + found.other_parameters) / 1e9 == pytest.approx(billions, rel=1e-3)


def test_a_hub_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(architecture, "hub_answers", lambda _: False)
    # The client would try again for most of a minute.
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_: pytest.fail("asked the client"))
    with pytest.raises(InputError, match="name a local one with --config"):
        read_architecture("owner/not-here")


# --- The device ---------------------------------------------------------------------------------------------


def test_without_a_recipe_it_shows_the_device_and_versions(ran: Ran) -> None:
    text = ran("doctor", "--device", "t4").out
    for row in ("Tesla T4", "14.6 GiB", "7.5", "float16", "transformers", "bitsandbytes"):
        assert row in text
    assert re.search(r"bfloat16\W+no", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--memory", "much"], "'much' is not an amount of memory"),
        (["--device", "t5"], "unknown device 't5'; did you mean 't4'"),
        (["--device", "t4", "batch_size=1"], "name the recipe before it"),
        (["/no/such.yaml", "--device", "t4"], "no such file"),
        (["own-domain/encoder"], "encoder.yaml: is by its name for judge encoder"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, refused: Refused) -> None:
    assert message in refused("doctor", *arguments)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"lora": None, "quantization": "nf4"}, "4-bit weights cannot be trained themselves"),
        ({"precision": "bfloat16"}, "Tesla T4 has none"),
        ({"model": "owner/not-here"}, "name a local one with --config"),
    ],
)
def test_recipes_that_cannot_be(keys: dict[str, Any], message: str, ask: Any) -> None:
    code, text = ask(keys, "--device", "t4")
    assert code == 2 and message in text


# --- Sizes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": None}, "field 'hidden_size': is missing"),
        ({"vocab_size": "many"}, "field 'vocab_size': holds 'many'"),
        ({"num_local_experts": 8}, "mixture of experts"),
    ],
)
def test_wrong_configs(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**QWEN_7B, **changes}))
    with pytest.raises(InputError, match=message):
        read_architecture("m", file)
    for text in ("[1]", "{"):
        file.write_text(text)
        with pytest.raises(InputError, match="JSON"):
            read_architecture("m", file)


def test_nested_configs_and_defaults(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    keys = {key: value for key, value in QWEN_7B.items() if not key.startswith(("num_key", "tie"))}
    file.write_text(json.dumps({"text_config": keys}))
    found = read_architecture("m", file)
    assert (found.num_key_value_heads, found.head_dim, found.tie_word_embeddings) == (28, 128, True)


def test_parameters_are_those_of_the_model(model_folder: ModelFolder) -> None:
    folder = model_folder("chatml")
    sizes = read_architecture(str(folder))
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert sizes.linear_parameters + sizes.other_parameters == model.num_parameters()
    lora = get_peft_model(model, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM"))
    assert sizes.adapter_parameters(4) == lora.get_nb_trainable_parameters()[0]
    assert read_architecture(str(model_folder("adapter"))).hidden_size == sizes.hidden_size


# --- The estimate -------------------------------------------------------------------------------------------

MIDDLE = Architecture("middle", 192, 3, 6, 2, 32, 512, 1024, tie_word_embeddings=False)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_activations_are_those_that_autograd_keeps(precision: str, shared: bool) -> None:
    """Bytes of all tensors that a forward pass leaves for the backward pass, on a CPU."""
    tokens = 1024
    recipe = SFTRecipe.model_validate(
        {
            **BASE,
            "batch_size": 1,
            "max_length": tokens,
            "sequence_tokens": tokens,
            "precision": precision,
            "prefix_sharing": shared,
            "lora": {"rank": 4},
        }
    )
    sizes = {key.name: getattr(MIDDLE, key.name) for key in fields(MIDDLE) if key.name != "name"}
    dtype = getattr(torch, precision)
    torch.set_num_threads(1)
    base = LlamaForCausalLM(LlamaConfig(**sizes)).to(dtype)
    base.set_attn_implementation(register())
    settings = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(base, settings)
    for module in model.modules():
        if isinstance(module, BaseTunerLayer):
            module.cast_input_dtype_enabled = False  # as training has it
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    mask = None
    if shared:  # a trunk, and three branches of which the first goes on from it without a break
        trunk, branch = [*range(640)], 128
        tree = make_tree([[*trunk, *range(start, start + branch)] for start in (0, 200, 400)], [branch] * 3)
        mask = tree_mask(torch.tensor([tree.nodes]), pad([tree.parents]))
        mask = mask[:, :, :tokens, :tokens]
    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        float32_head(base),
        torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"),
    ):
        model(
            input_ids=torch.zeros(1, tokens, dtype=torch.long),
            attention_mask=mask,
            position_ids=torch.arange(tokens).unsqueeze(0),
            logits_to_keep=torch.tensor([tokens - 1]),
            use_cache=False,
        )
    size = 4 if precision == "float32" else 2
    cpu = Device("cpu", "CPU", GIB)
    casts = 2 * MIDDLE.adapter_parameters(4) if size == 2 else 0
    head = 4 * MIDDLE.hidden_size * MIDDLE.vocab_size if size == 2 else 0
    layers = MIDDLE.num_hidden_layers * tokens * layer_bytes(recipe, MIDDLE, cpu, size)
    assert sum(kept.values()) == pytest.approx(layers + casts + head, rel=0.05)


def total(device: Device = KNOWN_DEVICES["t4"], kind: type[TrainingConfig] = SFTRecipe, **keys: Any) -> float:
    return estimate(kind.model_validate({**BASE, **keys}), MIDDLE, device).total


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(16, 8192),
    batch=st.integers(1, 32),
    kind=st.sampled_from([SFTRecipe, DPORecipe]),
    sharing=st.booleans(),
    device=st.sampled_from([KNOWN_DEVICES["t4"], Device("cpu", "CPU", GIB)]),
)
def test_more_takes_more(
    length: int, batch: int, kind: type[TrainingConfig], sharing: bool, device: Device
) -> None:
    keys = {"max_length": length, "batch_size": batch, "prefix_sharing": sharing, "precision": "float32"}
    if kind is SFTRecipe:
        keys["sequence_tokens"] = length
    here = total(device, kind, **keys)
    longer = {**keys, "max_length": 2 * length} | (
        {"sequence_tokens": 2 * length} if kind is SFTRecipe else {}
    )
    assert total(device, kind, **longer) > here
    assert total(device, kind, **{**keys, "batch_size": batch + 1}) > here
    assert total(device, kind, **keys, lora={"rank": 64}) > here
    assert total(device, kind, **keys, lora={"dropout": 0.1}) > here
    assert total(device, kind, **keys, trainer={"optim": "adamw_8bit"}) < here


def test_what_saves_memory() -> None:
    whole = total(lora=None)
    assert total(lora=None, trainer={"optim": "lion_32bit"}) < whole and total() < whole
    assert total(gradient_checkpointing=True) < total()
    assert total(kind=DPORecipe) < total(kind=DPORecipe, prefix_sharing=False)
    once = {"precompute_ref_log_probs": True}
    both, one = (total(kind=DPORecipe, lora=None, trainer=trainer) for trainer in ({}, once))
    assert both - one == 4 * (MIDDLE.linear_parameters + MIDDLE.other_parameters)


def test_the_parts_of_a_known_case() -> None:
    """Qwen2.5-7B in NF4 by hand: 6.53 billion weights in 4 bits, 1.09 billion in 16."""
    model = parse_architecture("model", QWEN_7B, Path("config.json"))
    recipe = SFTRecipe.model_validate({**BASE, **QLORA})
    memory = estimate(recipe, model, KNOWN_DEVICES["t4"])
    assert memory.weights == pytest.approx(6.525e9 * 0.516 + 1.090e9 * 2, rel=0.001)
    assert memory.adapter == memory.gradients == pytest.approx(4 * 40.4e6, rel=0.001)
    assert memory.optimizer == 2 * memory.adapter
    assert sequences_of(recipe) == (1, 2048) and memory.masks == 3 * 2048**2
    alone = estimate(recipe.model_copy(update={"prefix_sharing": False}), model, KNOWN_DEVICES["t4"])
    assert alone.masks == 0
    assert memory.logits == 3 * 4 * 152064 * 2048 * LABEL_SHARE
    longer = replace(model, num_hidden_layers=56)
    assert estimate(recipe, longer, KNOWN_DEVICES["t4"]).activations > memory.activations
