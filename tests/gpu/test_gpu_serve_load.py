"""``judge serve`` on a GPU under load from 64 connections, and its end by SIGTERM."""

from typing import Any

from benchmarks import serve_load
from tests.gpu.child import in_process
from tests.gpu.world import size

MINUTES = 2
CONNECTIONS = size(64, 4)


def measure(model: str, seconds: float) -> dict[str, Any]:
    """The figures of the bench. What part of the direct speed it wants was set on CPUs, and is not asked."""
    figures, _ = serve_load.measure(model, serve_load.draw(None, 512), seconds, CONNECTIONS, requests=0)
    return figures


def test_serve_under_load(record, judged_model):
    figures = in_process("tests.gpu.test_gpu_serve_load:measure", model=judged_model, seconds=size(30, 2))
    record("serve/64 connections", **figures, part=figures["server"] / figures["direct"])
    assert figures["failures"] == 0
    assert figures["exit_code"] == 0
