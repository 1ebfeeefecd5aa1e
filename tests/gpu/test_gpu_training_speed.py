"""Training speed and memory against TRL's own trainers, with prefix trees."""

from types import SimpleNamespace

import pytest

from benchmarks import training_speed
from benchmarks.training_rows import make_rows
from tests.gpu.child import OutOfMemory, in_process
from tests.gpu.world import REHEARSAL, size

MINUTES = 10
SIDES = {"trees": "shared", "trl": "trl"}
BATCH = {"0.5B": 4, "1.5B": 2}  # preference or contrast pairs; a card of 15 GB takes half
SMALL_CARD_GIB = 20


def measure(case: str, side: str, model: str, **settings: object) -> dict[str, float]:
    """Pairs or rows a second, peak memory in MiB, tokens of a row."""
    rows = make_rows(case, model, None)
    options = SimpleNamespace(model=model, gradient_checkpointing=False, **settings)
    found = training_speed.measure(case, side, rows, options)
    return {**found, "tokens": training_speed.mean_tokens(rows)}


@pytest.mark.parametrize("case", ["dpo-955", "dpo-1918", "sft-700"])
@pytest.mark.parametrize("model", ["0.5B", "1.5B"])
def test_trees_train_faster_than_rows(model, case, record, results, model_of, precision):
    small = results.device["memory_gib"] < SMALL_CARD_GIB
    batch = size(BATCH[model] // 2 if small else BATCH[model], 1)
    found: dict[str, dict[str, float]] = {}
    failures = []
    for name, side in SIDES.items():
        try:
            found[name] = in_process(
                "tests.gpu.test_gpu_training_speed:measure",
                case=case, side=side, model=model_of(model), batch=batch, precision=precision,
                steps=size(8, 1), warmup=size(4, 1),
            )  # fmt: skip
        except OutOfMemory:
            found[name] = {}
        except RuntimeError as error:  # the figures of the other sides are kept all the same
            found[name] = {}
            failures.append(str(error))
    figures = {f"{name}_rate": values.get("rate") for name, values in found.items()}
    peaks = {f"{name}_mib": values.get("peak") for name, values in found.items()}
    tokens = next((values["tokens"] for values in found.values() if values), None)
    rates = [values["rate"] for name, values in found.items() if values and name != "trl"]
    theirs = found["trl"].get("rate")
    ratio = max(rates) / theirs if rates and theirs else None
    record(
        f"training/{model}, {case}",
        batch=batch, precision=precision, tokens=tokens, **figures, **peaks, ratio=ratio,
    )  # fmt: skip
    assert not failures, failures
    assert rates, "trees do not fit"
    assert REHEARSAL or ratio is None or ratio > 1
