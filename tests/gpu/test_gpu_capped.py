"""The T4's own recipe, SFT and then DPO, in float16 under a cap of 15 GB, which stands for a T4.

The model is the recipe's, 7B, with random weights; rows are as long as the recipe allows.
"""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.doctor_memory import measured, write_rows
from judge.configs import load_config
from judge.models.hardware import GIB
from judge.training.config import DPORecipe, SFTRecipe
from tests.gpu.child import in_process
from tests.gpu.world import REHEARSAL, size

MINUTES = 6
CAP = 15e9
"""Bytes for PyTorch's allocator; a T4 leaves 15.7e9 to programs, of which CUDA's context takes some."""
RECIPES = Path("recipes/t4")
STEPS = 2


def train(stage: str, overrides: list[str]) -> dict[str, Any]:
    """Train under the cap; peak, estimate, seconds, losses."""
    import torch

    from judge.models.architecture import read_architecture
    from judge.models.hardware import KNOWN_DEVICES
    from judge.training.memory import estimate

    if torch.cuda.is_available():
        _, total = torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction(min(CAP / total, 1.0))
    kind = SFTRecipe if stage == "sft" else DPORecipe
    recipe = load_config(kind, RECIPES / f"{stage}.yaml", overrides)
    peak = measured(stage, recipe)
    expected = estimate(recipe, read_architecture(recipe.model), KNOWN_DEVICES["t4"]).total
    return {"peak": peak, "estimate": expected}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, model_of) -> Path:
    """Rows of the recipe's full length, with the model that reads them."""
    folder = tmp_path_factory.mktemp("capped")
    write_rows(folder / "data", model_of(size("7B", "0.5B")), size(2048, 256))
    return folder


@pytest.mark.parametrize("stage", ["sft", "dpo"])
def test_the_t4_recipe_trains_in_15_gb(stage, record, model_of, data: Path):
    start = model_of(size("7B", "0.5B")) if stage == "sft" else str(data / "sft")  # DPO goes on from the SFT
    overrides = [f"model={start}", f"data={data / 'data'}", f"output={data / stage}", f"max_steps={STEPS}"]
    overrides += ["without_leak_gate=true", "evaluations=0", "checkpoints=0", "trainer.logging_steps=1"]
    overrides += ["gradient_accumulation=2"]  # more takes longer, and no more memory
    if REHEARSAL:
        overrides += ["precision=float32", "trainer.optim=adamw_torch_fused", "max_length=256"]
        overrides += ["sequence_tokens=256"] if stage == "sft" else []
    else:
        overrides += ["precision=float16"]
    found = in_process("tests.gpu.test_gpu_capped:train", stage=stage, overrides=overrides)
    peak, estimate = found["peak"] / GIB, found["estimate"] / GIB
    record(f"capped/{stage}", cap_gib=CAP / GIB, peak_gib=peak, estimate_gib=estimate, steps=STEPS)
    assert (data / stage / "judge.json").is_file()
