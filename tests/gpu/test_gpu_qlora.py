"""QLoRA from end to end: SFT, DPO from its adapter, both judged. DPO starts exactly at the SFT judge."""

from pathlib import Path
from typing import Any

import pytest

from tests.bench.qlora_chain import start_of_dpo
from tests.gpu.child import in_process
from tests.gpu.world import size
from tests.towers import build_towers, training

MINUTES = 3
LIMIT = 1e-3  # of a reply's log-probability, in float32


def chain(model: str, folder: str, precision: str) -> dict[str, float]:
    """Train and judge; how far DPO's start is from the SFT judge, and what the judges say."""
    from judge.load import load_judge
    from judge.models.weights import load_model
    from judge.samples import read_samples
    from judge.training import dpo
    from judge.training.config import DPORecipe, SFTRecipe
    from judge.training.sft import train_sft

    data, sft, preferred = (Path(folder) / name for name in ("data", "sft", "dpo"))
    common = {"quantization": "nf4", "precision": precision, "max_steps": size(20, 2)}
    train_sft(SFTRecipe.model_validate(training(Path(model), data, sft, **common)))
    judge = load_model(str(sft), precision=precision, quantization="nf4").model.eval()
    apart: dict[str, float] = {}
    train_and_save = dpo.train_and_save

    def measured(trainer: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
        apart.update(start_of_dpo(trainer, judge))
        return train_and_save(trainer, *arguments, **named)

    dpo.train_and_save = measured  # type: ignore[assignment]
    done = dpo.train_dpo(
        DPORecipe.model_validate(training(sft, data, preferred, **common | {"learning_rate": 1e-4}))
    )
    samples = list(read_samples(data / "test.jsonl"))
    said = {
        name: load_judge(str(path), precision=precision, quantization="nf4").check(samples)
        for name, path in (("sft", sft), ("dpo", preferred))
    }
    moved = [abs(one.p_fail - two.p_fail) for one, two in zip(said["sft"], said["dpo"], strict=True)]
    return {
        **apart,
        "first_loss": done["losses"][0]["loss"],
        "samples": len(samples),
        "p_fail_moved_by": sum(moved) / len(moved),
    }


@pytest.mark.parametrize("number_format", ["float32", "own"])
def test_dpo_starts_at_the_sft_judge(number_format, record, model_of, precision, tmp_path: Path):
    chosen = precision if number_format == "own" else number_format
    if number_format == "own" and precision == "float32":
        pytest.skip("the device's own format is float32")
    build_towers(tmp_path, documents=40, pairs=32)
    found = in_process(
        "tests.gpu.test_gpu_qlora:chain", model=model_of("0.5B"), folder=str(tmp_path), precision=chosen
    )
    record(f"qlora/0.5B, {chosen}", **found)
    assert found["p_fail_moved_by"] > 0  # DPO trained something
    if chosen == "float32":  # 16 bits round away what is measured
        assert max(found["policy"], found["reference"]) <= LIMIT
