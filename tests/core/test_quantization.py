"""Weights of 4 bits: what reaches a T4, training on them, judging with them, merging into them."""

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import TrainingArguments

from judge import errors
from judge.configs import make_config
from judge.errors import InputError
from judge.models import hardware
from judge.models.hardware import KNOWN_DEVICES
from judge.models.weights import load_model, load_weights
from judge.training.arguments import (
    ADAMW,
    check_trainer,
    common_arguments,
    make_arguments,
    weight_precision_of,
)
from judge.training.config import SFTRecipe
from judge.training.models import load_trainable, lora_config
from judge.training.sft import train_sft
from tests.tiny_data import training, write_prompts

ModelFolder = Callable[[str], Path]
pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows and pairs to train on and to validate with."""
    return write_prompts(tmp_path_factory.mktemp("rows"), "train", "validation")


def settings(model: Path, data: Path, output: Path, **changes: Any) -> dict[str, Any]:
    quantized = {"precision": "auto", "quantization": "nf4", "max_steps": 6, "learning_rate": 1e-2}
    schedule = {"scheduler": "constant", "warmup_ratio": 0}
    return training(model, data, output, **{**quantized, **schedule, **changes})


@pytest.fixture
def t4(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device at hand passes for a T4, with CUDA capability 7.5; tensors stay on the CPU."""
    monkeypatch.setattr(hardware, "this_device", lambda: KNOWN_DEVICES["t4"])


@pytest.fixture
def recipe(model_folder: ModelFolder, data: Path, tmp_path: Path) -> Callable[..., SFTRecipe]:
    return lambda **changes: SFTRecipe.model_validate(
        settings(model_folder("chatml"), data, tmp_path / "out", **changes)
    )


# --- No bfloat16 on a T4 ------------------------------------------------------------------------------------


def tensors_of(model: Any) -> Iterator[tuple[str, Any]]:
    """Parameters, buffers and what 4-bit weights are dequantized with."""
    yield from model.named_parameters()
    yield from model.named_buffers()
    for name, weight in model.named_parameters():
        states = [getattr(weight, "quant_state", None)]
        states.append(getattr(states[0], "state2", None))
        for state in states:
            for key, value in vars(state).items() if state is not None else ():
                if isinstance(value, torch.Tensor):
                    yield f"{name}.{key}", value


def make_trainer(recipe: SFTRecipe, model: Any, tokenizer: Any) -> Any:
    from datasets import Dataset
    from trl import SFTConfig

    from judge.training.trainer import JudgeSFTTrainer

    arguments = SFTConfig(**common_arguments(recipe, 6), dataset_kwargs={"skip_prepare_dataset": True})
    rows = Dataset.from_list([{"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "length": 3}])
    return JudgeSFTTrainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        processing_class=tokenizer,
        data_collator=lambda rows: rows,
        peft_config=lora_config(recipe),
    )


@pytest.mark.parametrize(("device", "fp16"), [("t4", True), ("a100-40gb", False)])
def test_the_arguments_of_a_gpu(
    device: str, fp16: bool, recipe: Callable[..., SFTRecipe], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "this_device", lambda: KNOWN_DEVICES[device])
    arguments = common_arguments(recipe(), 6)
    assert (arguments["fp16"], arguments["bf16"], arguments["use_cpu"]) == (fp16, not fp16, False)
    if fp16:
        with pytest.raises(InputError, match="precision bfloat16: Tesla T4 has none; set float16"):
            common_arguments(recipe(precision="bfloat16"), 6)


@pytest.mark.usefixtures("t4")
@pytest.mark.parametrize("checkpointing", [False, True])
def test_no_bfloat16_in_a_training_step_of_a_t4(
    checkpointing: bool, recipe: Callable[..., SFTRecipe]
) -> None:
    """Every tensor that an operation makes is looked at, forward and backward, under autocast and scaler."""
    wanted = recipe(gradient_checkpointing=checkpointing)
    model, tokenizer = load_trainable(wanted)
    four_bit = [module for module in model.modules() if hasattr(module, "compute_dtype")]
    assert len(four_bit) == 2 * 7
    assert {module.compute_dtype for module in four_bit} == {torch.float16}
    assert {module.weight.quant_state.dtype for module in four_bit} == {torch.float16}

    trainer = make_trainer(wanted, model, tokenizer)
    dtypes = {name: tensor.dtype for name, tensor in tensors_of(trainer.model)}
    assert torch.bfloat16 not in dtypes.values()
    trained = {name: weight for name, weight in trainer.model.named_parameters() if weight.requires_grad}
    assert len(trained) == 2 * 2 * 7 and {weight.dtype for weight in trained.values()} == {torch.float32}

    seen: set[torch.dtype] = set()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = op(*args, **(kwargs or {}))
            seen.update(leaf.dtype for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor))
            return result

    ids = torch.tensor([[5, 6, 7, 8]])
    optimizer = torch.optim.AdamW(trained.values(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu")
    before = {name: weight.detach().clone() for name, weight in trained.items()}
    trainer.model.train()
    losses = []
    for _ in range(12):  # the scaler skips steps whose gradients overflow, and lowers its factor each time
        with Watch():
            with torch.autocast("cpu", dtype=torch.float16):
                loss = trainer.model(input_ids=ids, labels=ids, use_cache=False).loss
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        losses.append(loss.item())
        optimizer.zero_grad()
    assert torch.float16 in seen and torch.bfloat16 not in seen
    assert all(map(math.isfinite, losses)) and losses[-1] < losses[0]
    assert not any(torch.equal(weight, before[name]) for name, weight in trained.items())


# --- Training -----------------------------------------------------------------------------------------------


def test_a_quantized_model_learns(recipe: Callable[..., SFTRecipe]) -> None:
    changes = {"precision": "bfloat16", "gradient_checkpointing": True, "evaluations": 2}
    summary = train_sft(recipe(judged_samples=0, **changes))
    losses = [entry["loss"] for entry in summary["losses"] if "loss" in entry]
    assert len(losses) == 6 and all(math.isfinite(loss) for loss in losses)
    assert losses[-1] < 0.8 * losses[0]


def test_training_goes_on_after_an_evaluation(recipe: Callable[..., SFTRecipe]) -> None:
    """bitsandbytes would repack the weights of a CPU for good, into a form without gradients."""
    model, tokenizer = load_trainable(recipe(precision="float32"))
    model = make_trainer(recipe(precision="float32"), model, tokenizer).model
    ids = torch.tensor([[5, 6, 7, 8]])

    def gradients() -> list[Any]:
        model.zero_grad()
        model.train()
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]

    before = gradients()
    model.eval()
    with torch.no_grad():
        model(input_ids=ids)
    for grad, other in zip(gradients(), before, strict=True):
        torch.testing.assert_close(grad, other)


@pytest.mark.parametrize(
    "optimizer", [ADAMW, "adamw_8bit", "paged_adamw_8bit", "lion_32bit", "paged_lion_8bit"]
)
def test_every_optimizer_trains_on_a_cpu(optimizer: str, recipe: Callable[..., SFTRecipe]) -> None:
    from judge.training.trainer import JudgeSFTTrainer

    arguments = common_arguments(recipe(trainer={"optim": optimizer}, precision="float32"), 6)
    arguments.pop("max_length")  # TRL's own
    kind, options = JudgeSFTTrainer.get_optimizer_cls_and_kwargs(TrainingArguments(**arguments))
    weight = torch.nn.Parameter(torch.linspace(-1, 1, 8192).reshape(64, 128))  # enough for a state of 8 bits
    stepper = kind([weight], **options)
    losses = []
    for _ in range(5):
        stepper.zero_grad()
        loss = weight.square().mean()
        loss.backward()
        stepper.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.95 * losses[0]
    state = {
        value.dtype
        for value in stepper.state[weight].values()
        if hasattr(value, "numel") and value.numel() == 8192
    }
    assert state == {torch.uint8 if "8bit" in optimizer else torch.float32}


def test_optimizer_settings(recipe: Callable[..., SFTRecipe]) -> None:
    from trl import SFTConfig

    def made(**trainer: Any) -> Any:
        asked = recipe(precision="float32", warmup_ratio=0.5, max_steps=8)
        asked = asked.model_copy(update={"trainer": trainer})
        return make_arguments(SFTConfig, asked, **common_arguments(asked, 6))

    def betas(**trainer: Any) -> tuple[float, float]:
        arguments = made(**trainer)
        return arguments.adam_beta1, arguments.adam_beta2

    assert betas() == (0.9, 0.999)
    assert betas(optim="lion_32bit") == (0.9, 0.99)
    assert betas(optim="lion_32bit", adam_beta2=0.95) == (0.9, 0.95)
    assert (made().warmup_steps, made().logging_steps, made().weight_decay) == (4, 10, 0.0)
    assert (made(warmup_steps=3).warmup_steps, made(logging_steps=7).logging_steps) == (3, 7)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("optimizer", r"write trainer: {optim: paged_adamw_8bit}"),
        ("betas", r"write trainer: {adam_beta1: 0.9, adam_beta2: 0.95}"),
        ("weight_decay", r"write trainer: {weight_decay: 0.01}"),
        ("batch_of", r"write prefix_sharing: false"),
    ],
)
def test_a_key_of_an_earlier_version_is_told_as_it_is_written_now(key: str, told: str) -> None:
    given: tuple[tuple[list[str], dict[str, int]], ...] = (([f"{key}=1"], {}), ([], {key: 1}))
    for words, values in given:
        with pytest.raises(InputError, match=f"field '{key}': is gone: {re.escape(told)}"):
            make_config(SFTRecipe, {"model": "m", "data": "d", "output": "o", **values}, words)


def test_trained_weights_stay_in_float32(
    recipe: Callable[..., SFTRecipe], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update of 1e-6 would vanish in bfloat16; DeepSpeed keeps float32 copies by itself."""
    whole = recipe(lora=None, quantization=None, precision="bfloat16")
    assert weight_precision_of(whole) == "float32"
    assert weight_precision_of(recipe(quantization=None, precision="bfloat16")) == "bfloat16"
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    assert weight_precision_of(whole) == "bfloat16"


# --- Refusals -----------------------------------------------------------------------------------------------


def test_4_bit_weights_are_not_trained_themselves(recipe: Callable[..., SFTRecipe]) -> None:
    with pytest.raises(InputError, match=r"'quantization': 4-bit weights cannot be trained .* set lora"):
        load_trainable(recipe(lora=None))


@pytest.mark.parametrize(
    ("environment", "config"),
    [
        ({"ACCELERATE_USE_FSDP": "true"}, None),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3"}, None),
        ({"ACCELERATE_USE_DEEPSPEED": "true"}, {"zero_optimization": {"stage": 3}}),
    ],
)
def test_4_bit_weights_are_not_cut_into_shards(
    environment: dict[str, str],
    config: dict[str, Any] | None,
    recipe: Callable[..., SFTRecipe],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if config is not None:
        (tmp_path / "deepspeed.json").write_text(json.dumps(config))
        monkeypatch.setenv("ACCELERATE_DEEPSPEED_CONFIG_FILE", str(tmp_path / "deepspeed.json"))
    with pytest.raises(InputError, match=r"cannot be cut into shards .*ddp.yaml or zero2.yaml"):
        load_trainable(recipe())


def test_bitsandbytes_is_not_installed(
    recipe: Callable[..., SFTRecipe], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="quantization nf4 needs bitsandbytes; pip install"):
        load_trainable(recipe())
    with pytest.raises(InputError, match="optimizer paged_lion_8bit needs bitsandbytes"):
        common_arguments(recipe(trainer={"optim": "paged_lion_8bit"}, precision="float32"), 6)
    common_arguments(recipe(trainer={"optim": "lion_32bit"}, precision="float32"), 6)  # is the toolkit's own


# --- Judging and merging ------------------------------------------------------------------------------------


def logits(model: Any) -> Any:
    with torch.inference_mode():
        return model.eval()(input_ids=torch.arange(3, 40).unsqueeze(0)).logits


def test_judging_with_quantized_weights(model_folder: ModelFolder) -> None:
    folder = str(model_folder("chatml"))
    plain = load_model(folder, precision="float32")
    quantized = load_model(folder, precision="float32", quantization="nf4")
    told = quantized.describe()
    assert told["quantization"] == "nf4" and "quantization" not in plain.describe()
    assert told["parameters"] == plain.describe()["parameters"]
    again, _ = load_weights(folder, precision="float32", quantization="nf4", dequantize=True)
    assert not any(hasattr(weight, "quant_state") for weight in again.parameters())
    torch.testing.assert_close(logits(quantized.model), logits(again), rtol=1e-4, atol=1e-4)
    assert (logits(quantized.model) - logits(plain.model)).abs().max() > 0.01


def test_any_argument_of_the_trainer_by_its_own_name(recipe: Callable[..., SFTRecipe]) -> None:
    from trl import DPOConfig, SFTConfig

    def made(kind: type, **trainer: object) -> Any:
        wanted = recipe(precision="float32", trainer=trainer)
        check_trainer(kind, wanted)
        return make_arguments(kind, wanted, **common_arguments(wanted, 6))

    assert made(SFTConfig, adam_epsilon=1e-6, dataloader_num_workers=1).adam_epsilon == 1e-6
    assert made(DPOConfig, label_smoothing=0.1, max_grad_norm=0.5).label_smoothing == 0.1
    with pytest.raises(InputError, match=r"trainer.neftune_noise_alfa.*neftune_noise_alpha"):
        made(SFTConfig, neftune_noise_alfa=5)
    for kind, ignored in ((SFTConfig, "packing"), (DPOConfig, "label_smoothing_factor")):
        with pytest.raises(InputError, match=f"trainer.{ignored}.*has no effect"):
            made(kind, **{ignored: 0})
    with pytest.raises(InputError, match=r"trainer.learning_rate.*other keys"):
        made(SFTConfig, learning_rate=1)
    with pytest.raises(InputError, match="sometimes"):
        made(SFTConfig, logging_strategy="sometimes")


def test_a_wrong_argument_of_the_trainer_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    nothing = SFTRecipe(model="nowhere", data="nowhere", output=str(tmp_path))
    for name, value, told in (
        ("neftune_noise_alfa", 5, "neftune_noise_alpha"),
        ("report_to", ["codecarbo"], "codecarbo is not installed"),
    ):
        with pytest.raises(InputError, match=rf"trainer\.{name}.*{told}"):
            train_sft(nothing.model_copy(update={"trainer": {name: value}}))
