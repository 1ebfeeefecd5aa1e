"""Tree training gives TRL's losses and gradients on a GPU, in float32 and in bfloat16."""

import pytest

from benchmarks.exactness import differences
from benchmarks.training_rows import make_rows
from tests.gpu.child import in_process

MINUTES = 3
CASES = ("dpo-short", "sft-700")


def compared(model: str, precision: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Relative differences, case by case: trees against TRL, and TRL against itself with other padding."""
    return {
        case: differences(case, make_rows(case, model, None)[:6], model, precision=precision)
        for case in CASES
    }


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_trees_train_as_rows_do(precision, record, results, model_of):
    if precision == "bfloat16" and results.device["precision"] == "float16":
        pytest.skip(f"{results.device['name']} has no bfloat16")
    cases = in_process(
        "tests.gpu.test_gpu_exactness:compared",
        model=model_of("0.5B"), precision=precision,
    )  # fmt: skip
    for case, found in cases.items():
        record(f"exactness/{case}, {precision}", **found)
    # In 16 bits TRL differs from itself too: by what its kernels round, which depends on the padding.
    limits = {"loss": 1e-4, "log-probabilities": 1e-4, "gradients": 1e-3}
    for case, found in cases.items():
        for name, (trees, own) in found.items():
            assert trees <= (limits[name] if precision == "float32" else 0.05 + 3 * own), (case, name)
