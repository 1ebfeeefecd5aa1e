"""Samples a second of the ways to judge, how busy the GPU is, and the share of its products that are used."""

from importlib.util import find_spec
from typing import Any

import pytest

from benchmarks import judging_speed
from tests.gpu.child import in_process
from tests.gpu.utilization import Utilization, product_rate
from tests.gpu.world import make_samples, size

MINUTES = 3
DOCUMENTS, SLOW = size(600, 4), 2
SENTENCES = 20  # a document of some 700 tokens


def measure(way: str, model: str, precision: str) -> dict[str, Any]:
    """Judge in one way; ``share`` is of the operations of a large matrix product in the same format."""
    if way == "pipeline":
        judging_speed.NEW_TOKENS = size(judging_speed.NEW_TOKENS, 8)
    rows = make_samples(DOCUMENTS, 1, SENTENCES)
    if way in ("shared", "unshared"):
        rows = make_samples(DOCUMENTS // 4, 4, SENTENCES)
    if way == "pipeline":
        rows = rows[:SLOW]
    if way == "vllm":
        from judge.backends.vllm import VLLMBackend
        from judge.judge import Judge

        backend: Any = VLLMBackend(model, precision=precision)
        run = judging_speed.verdicts(Judge(backend))
    else:
        run, backend = with_transformers(way, model, precision)
    tokens = sum(backend.count_tokens(judging_speed.BuiltinPrompt().messages(row, "verdict")) for row in rows)
    with Utilization() as busy:
        found = judging_speed.timed(way, run, rows)
    figures = {"rows": len(rows), "samples_s": found.speed, "tokens_s": tokens / found.seconds}
    figures["utilization"] = busy.mean
    if way == "verdict mode":  # no two rows share a document: nearly every token was computed
        from judge.models.architecture import read_architecture

        work = 2 * read_architecture(model).linear_parameters * figures["tokens_s"]
        figures["share"] = work / product_rate(precision, size(8192, 512))
    return figures


def with_transformers(way: str, model: str, precision: str) -> tuple[Any, Any]:
    """What judges, and its backend."""
    from judge.backends.transformers import TransformersBackend
    from judge.judge import Judge
    from judge.models.weights import load_model

    backend = TransformersBackend(load_model(model, precision=precision))
    if way == "pipeline":
        return judging_speed.by_pipeline(backend), backend
    judge = Judge(backend)
    return (judging_speed.one_by_one if way == "unshared" else judging_speed.verdicts)(judge), backend


@pytest.mark.parametrize("way", ["verdict mode", "shared", "unshared", "pipeline", "vllm"])
def test_judging_speed(way, record, judged_model, precision):
    if way == "vllm" and find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    figures = in_process(
        "tests.gpu.test_gpu_judging_speed:measure", way=way, model=judged_model, precision=precision
    )
    record(f"judging/{way}", precision=precision, **figures)
    assert figures["samples_s"] > 0
