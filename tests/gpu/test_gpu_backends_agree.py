"""The same samples on every engine: full weights and an adapter, float32, against transformers on the GPU."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import backends_agree
from judge.files import write_jsonl
from tests.gpu.world import make_samples, size

MINUTES = 6
SAMPLES = size(48, 8)
Verdicts = list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], tuple[Verdicts, float]]:
    """The verdicts of a model on an engine, and seconds; each is run once."""
    folder = tmp_path_factory.mktemp("engines")
    write_jsonl(folder / "samples.jsonl", map(asdict, make_samples(SAMPLES // 2, 2, 6)))
    done: dict[tuple[str, str], tuple[Verdicts, float]] = {}

    def verdicts(engine: str, model: str) -> tuple[Verdicts, float]:
        if (engine, model) not in done:
            out = folder / f"{len(done)}"
            out.mkdir()
            if engine == "cpu":
                done[engine, model] = on_the_cpu(folder / "samples.jsonl", out / "verdicts.jsonl", model)
            else:
                done[engine, model] = backends_agree.run(engine, model, folder / "samples.jsonl", out)
        return done[engine, model]

    return verdicts


def on_the_cpu(samples: Path, out: Path, model: str) -> tuple[Verdicts, float]:
    """transformers once more, where there is no GPU to be seen."""
    before = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    try:
        return backends_agree.judge(samples, out, model, "--set", "precision=float32")
    finally:
        os.environ.pop("CUDA_VISIBLE_DEVICES")
        if before is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = before


@pytest.mark.parametrize("kind", ["weights", "adapter"])
@pytest.mark.parametrize("engine", ["cpu", "vllm", "server"])
def test_engines_agree(engine, kind, record, run, judged_model, adapter_of):
    if engine != "cpu" and find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    model = judged_model if kind == "weights" else adapter_of("0.5B")
    reference, _ = run("transformers", model)
    try:
        rows, seconds = run(engine, model)
    except (subprocess.CalledProcessError, SystemExit) as error:
        pytest.fail(f"{engine} did not run: {error}")
    same, apart = backends_agree.agreement(rows, reference)
    scores = [row["p_fail"] for row in reference]
    spread = max(scores) - min(scores)
    record(
        f"agree/{kind}, {engine}",
        samples=len(rows),
        same_labels=same,
        p_fail_apart=apart,
        p_fail_spread=spread,
        seconds=seconds,
    )
    unsure = sum(abs(score - 0.5) <= apart for score in scores)  # may fall either way
    assert same >= len(rows) - unsure
    assert apart <= min(backends_agree.LIMIT, spread / 4)  # random weights have weak opinions
