"""Training that starts from a LoRA adapter: the judge that it is, its reference, and what it leaves."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from judge.backends.load import load_backend
from judge.errors import InputError, JudgeWarning
from judge.load import load_judge
from judge.models.weights import load_model
from judge.training import callbacks, dpo
from judge.training.checkpoints import complete_checkpoints
from judge.training.config import DPORecipe, SFTRecipe
from judge.training.dpo import train_dpo
from judge.training.merge import merge
from judge.training.models import load_trainable
from judge.training.sft import train_sft
from judge.training.stopping import Interrupted
from judge.types import Sample
from tests.tiny_data import at_step, training, write_prompts

ModelFolder = Callable[[str], Path]
pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other
FORMATS = {"plain": None, "nf4": "nf4"}
SAMPLES = [Sample(str(number), f"Tower {number} is {number} m high.", "It is high.") for number in range(5)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_prompts(tmp_path_factory.mktemp("rows"), "train")


def settings(model: Path, data: Path, output: Path, **changes: Any) -> dict[str, Any]:
    steady = {"max_steps": 6, "learning_rate": 1e-2, "scheduler": "constant", "warmup_ratio": 0}
    return training(model, data, output, **{**steady, **changes})


@pytest.fixture(scope="module")
def sft(data: Path, model_folder: ModelFolder, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """SFT judges as adapters, by the number format of their base."""
    root = tmp_path_factory.mktemp("sft")
    for name, quantization in FORMATS.items():
        values = settings(model_folder("chatml"), data, root / name, quantization=quantization)
        train_sft(SFTRecipe.model_validate(values))
    return {name: root / name for name in FORMATS}


def started(recipe: DPORecipe, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The trainer as ``train_dpo`` makes it, before its first step."""
    made: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(dpo, "train_and_save", lambda trainer, *_, **__: made.append(trainer) or {})
        train_dpo(recipe)
    return made[0]


def reply_logps(model: Any, pairs: list[dict[str, Any]], side: str) -> torch.Tensor:
    """Log-probability of each reply, row by row, by the model's own forward pass."""
    found = []
    for pair in pairs:
        prompt, reply = pair["prompt_ids"], pair[f"{side}_ids"]
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *reply]])).logits[0].float().log_softmax(-1)
        rows = range(len(prompt) - 1, len(prompt) + len(reply) - 1)
        found.append(sum(logits[row, token] for row, token in zip(rows, reply, strict=True)))
    return torch.stack(found)


@pytest.mark.parametrize(
    ("name", "precomputed", "sharing"),  # every two together
    [("plain", False, True), ("plain", True, False), ("nf4", False, False), ("nf4", True, True)],
)
def test_policy_and_reference_start_as_the_sft_judge(
    name: str,
    precomputed: bool,
    sharing: bool,
    sft: dict[str, Path],
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = DPORecipe.model_validate(
        settings(
            sft[name],
            data,
            tmp_path / "dpo",
            quantization=FORMATS[name],
            trainer={"precompute_ref_log_probs": precomputed},
            prefix_sharing=sharing,
        )
    )
    trainer = started(recipe, monkeypatch)
    pairs = [trainer.train_dataset[row] for row in range(len(trainer.train_dataset))]
    judge = load_model(str(sft[name]), precision="float32", quantization=FORMATS[name]).model.eval()
    chosen, rejected = (reply_logps(judge, pairs, side) for side in ("chosen", "rejected"))
    with trainer.model.disable_adapter():  # the base itself is another model
        assert (reply_logps(trainer.model.eval(), pairs, "chosen") - chosen).abs().max() > 0.1
    batch = trainer.data_collator(pairs)
    if precomputed:
        reference = [
            torch.tensor([pair[f"ref_{side}_logps"] for pair in pairs]) for side in ("chosen", "rejected")
        ]
    else:
        reference = list(trainer.compute_ref_log_probs(trainer.model, batch))
    trainer.model.train()
    loss = trainer.compute_loss(trainer.model, batch)
    figures = trainer._metrics["train"]
    for wanted, found in zip((chosen, rejected), reference, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-3)
    assert figures["logps/chosen"][-1] == pytest.approx(chosen.mean().item(), abs=1e-3)
    assert figures["logps/rejected"][-1] == pytest.approx(rejected.mean().item(), abs=1e-3)
    assert loss.item() == pytest.approx(0.6931, abs=1e-3)
    trained = {item for item, weight in trainer.model.named_parameters() if weight.requires_grad}
    assert trained and all(".default." in item for item in trained)


@pytest.mark.parametrize("name", FORMATS)
def test_what_it_leaves_is_one_adapter(
    name: str, sft: dict[str, Path], data: Path, model_folder: ModelFolder, tmp_path: Path
) -> None:
    output = tmp_path / "dpo"
    values = settings(sft[name], data, output, quantization=FORMATS[name], learning_rate=1e-3)
    summary = train_dpo(DPORecipe.model_validate(values))
    assert summary["losses"][-1]["loss"] < summary["losses"][0]["loss"] == pytest.approx(0.6931, abs=1e-3)
    assert not [path for path in output.iterdir() if path.is_dir()]
    before, after = (load_file(folder / "adapter_model.safetensors") for folder in (sft[name], output))
    assert before.keys() == after.keys()
    assert all(not torch.equal(weight, after[key]) for key, weight in before.items())
    identity = json.loads((output / "judge.json").read_text())
    assert identity["base"]["at"] == str(model_folder("chatml")) and identity["started_from"] == str(
        sft[name]
    )
    assert f"Started from `{sft[name]}`" in (output / "README.md").read_text()

    told = merge(str(output), tmp_path / "merged")
    assert told.base == str(model_folder("chatml"))
    merged, judge = (load_judge(str(folder)) for folder in (tmp_path / "merged", output))
    assert judge.describe().get("quantization") == FORMATS[name]
    for one, other in zip(merged.check(SAMPLES), judge.check(SAMPLES), strict=True):
        assert one.p_fail == pytest.approx(other.p_fail, abs=1e-3)


def test_a_stopped_run_goes_on(
    sft: dict[str, Path], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference is made anew from where the run started, not from its checkpoint."""

    def recipe(output: str, **changes: Any) -> DPORecipe:
        values = settings(sft["nf4"], data, tmp_path / output, quantization="nf4", learning_rate=1e-3)
        return DPORecipe.model_validate({**values, "checkpoints": 2, **changes})

    whole = train_dpo(recipe("whole"))
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr(callbacks, "TimeLimit", lambda *_: at_step(3))
        train_dpo(recipe("parts", max_minutes=60))
    kept = complete_checkpoints(tmp_path / "parts")[-1]
    assert kept.step == 3 and not [path for path in kept.folder.iterdir() if path.is_dir()]
    parts = train_dpo(recipe("parts", resume=True))
    found = [entry["loss"] for entry in parts["losses"]]
    assert found == pytest.approx([entry["loss"] for entry in whole["losses"]], abs=1e-6)
    once, twice = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("whole", "parts"))
    for key, weight in once.items():
        torch.testing.assert_close(twice[key], weight, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def merged(sft: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("merged") / "judge"
    merge(str(sft["nf4"]), folder)
    return folder


def test_merged_4_bit_weights_are_not_rounded_again(
    merged: Path, sft: dict[str, Path], data: Path, tmp_path: Path
) -> None:
    """... nor are those of a judge that was trained on them in plain weights, adapter or merged."""
    again = settings(merged, data, tmp_path / "dpo", quantization="nf4")
    for kind in (SFTRecipe, DPORecipe):
        with pytest.raises(
            InputError, match=r"would take back nearly all .* start from the adapter itself"
        ) as told:
            load_trainable(kind.model_validate(again))
        assert str(sft["nf4"]) in str(told.value)
    train_dpo(DPORecipe.model_validate({**again, "quantization": None, "max_steps": 1}))
    merge(str(tmp_path / "dpo"), tmp_path / "dpo-merged")
    for folder in ("dpo", "dpo-merged"):
        with pytest.raises(InputError, match="would take back nearly all"):
            load_trainable(DPORecipe.model_validate({**again, "model": str(tmp_path / folder)}))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("nf4", {"quantization": None}, "'quantization': .* was trained with quantization: nf4, .* set that"),
        ("plain", {"quantization": "nf4"}, "was trained with quantization: null, "),
        ("plain", {"lora": None}, "'lora': .* merge it first: judge merge"),
        ("plain", {"lora": {"rank": 8, "alpha": 8}}, "rank 4 and alpha 8, .*set lora: {rank: 4, alpha: 8}"),
    ],
)
def test_what_an_adapter_cannot_start(
    name: str, changes: dict[str, Any], message: str, sft: dict[str, Path], data: Path, tmp_path: Path
) -> None:
    values = settings(sft[name], data, tmp_path / "dpo", quantization=FORMATS[name])
    with pytest.raises(InputError, match=message):
        load_trainable(DPORecipe.model_validate({**values, **changes}))


# --- Judging ------------------------------------------------------------------------------------------------


def test_a_judge_loads_as_it_was_trained(sft: dict[str, Path], merged: Path) -> None:
    def p_fail(folder: Path, **changes: Any) -> list[float]:
        verdicts = load_judge(str(folder), precision="float32", **changes).check(SAMPLES)
        return [verdict.p_fail or 0.0 for verdict in verdicts]

    as_trained = p_fail(sft["nf4"])
    assert as_trained == p_fail(sft["nf4"], quantization="nf4")
    assert as_trained == pytest.approx(p_fail(merged), abs=1e-3)
    assert as_trained != pytest.approx(p_fail(sft["nf4"], quantization="none"), abs=1e-3)
    assert p_fail(sft["plain"]) == p_fail(sft["plain"], quantization="none")
    assert json.loads((sft["nf4"] / "judge.json").read_text())["precision"] == "float32"


def test_vllm_says_what_it_does_not_load(
    sft: dict[str, Path], merged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr("judge.backends.vllm.VLLMBackend", lambda model, **given: asked.append(given))
    with pytest.warns(JudgeWarning, match=r"in nf4, which vLLM does not load: .* judge merge .*nf4 -o DIR"):
        load_backend(str(sft["nf4"]), "vllm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_backend(str(sft["nf4"]), "vllm", quantization="none")
        load_backend(str(sft["plain"]), "vllm")
        load_backend(str(merged), "vllm")
    assert [given["trained"] for given in asked] == ["float32"] * 4
    with pytest.raises(InputError, match="quantization nf4 is for the backend transformers"):
        load_backend(str(sft["nf4"]), "vllm", quantization="nf4")
