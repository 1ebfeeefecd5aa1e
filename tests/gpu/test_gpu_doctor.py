"""How near ``judge doctor`` comes on a GPU: its estimate against the peak of five training runs."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.doctor_memory import settings, write_rows
from judge.models.hardware import GIB
from tests.gpu.child import in_process
from tests.gpu.world import REHEARSAL, size

MINUTES = 4
TOKENS = size(2048, 256)
QLORA = {"quantization": "nf4", "gradient_checkpointing": True}
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "SFT, LoRA": ("sft", "1.5B", {}),
    "SFT, LoRA, checkpointing": ("sft", "1.5B", {"gradient_checkpointing": True}),
    "SFT, QLoRA, checkpointing": ("sft", "1.5B", QLORA),
    "SFT, all weights": ("sft", "0.5B", {"lora": None}),
    "DPO, LoRA": ("dpo", "1.5B", {}),
}


@pytest.mark.parametrize("name", RUNS)
def test_doctor_is_within_a_quarter_of_the_peak(name, record, model_of, precision, tmp_path: Path):
    stage, model, changes = RUNS[name]
    write_rows(tmp_path / "data", model_of(model), TOKENS)
    recipe = settings(stage, model_of(model), tmp_path, TOKENS, {"precision": precision, **changes})
    found = in_process("benchmarks.doctor_memory:measure", stage=stage, recipe=recipe)
    peak, estimate = found["peak"] / GIB, found["estimate"] / GIB
    record(
        f"doctor/{model}, {name}", tokens=TOKENS, precision=precision, peak_gib=peak, estimate_gib=estimate
    )
    assert REHEARSAL or 0.75 <= estimate / peak <= 1.25
