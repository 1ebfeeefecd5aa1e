"""What is measured on a GPU: ``make test-gpu``, or ``pytest tests/gpu``. Skipped where there is no CUDA.

Each module has so many ``MINUTES``, 40 together; what does not fit is skipped and said so. Figures go to
``results/gpu.json``, or where ``JUDGE_GPU_RESULTS`` says, as soon as they are measured; run again, a test
replaces its own. ``python -m tests.gpu.performance_page`` puts them into ``docs/research/performance.md``.

``JUDGE_GPU_TESTS=cpu`` runs everything at toy size on the CPU. Its figures mean nothing and are thrown away,
and a slow machine gets five times the minutes.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.gpu.child import in_process
from tests.gpu.results import Results
from tests.gpu.world import REHEARSAL, size

FILE = Path("results/gpu.json")

os.environ.pop("DS_ACCELERATOR", None)  # tests/conftest.py keeps DeepSpeed off GPUs
if REHEARSAL:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""

_used: Counter[str] = Counter()  # seconds of each module


def _left(item: pytest.Item) -> float:
    module = item.getparent(pytest.Module).obj
    return 60 * module.MINUTES * size(1, 5) - _used[module.__name__]


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest-timeout, which reads the marker
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Give a test the time that its module has left; tests of other folders come by here too."""
    if not hasattr(getattr(item.getparent(pytest.Module), "obj", None), "MINUTES"):
        return (yield)
    item.add_marker(pytest.mark.timeout(max(_left(item), 1)), append=False)
    start = time.monotonic()
    try:
        return (yield)
    finally:
        _used[item.getparent(pytest.Module).obj.__name__] += time.monotonic() - start


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip without CUDA, and where the module's time is used up."""
    if not REHEARSAL:
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no CUDA here")
    if _left(item) <= 0:
        pytest.skip(f"the {item.getparent(pytest.Module).obj.MINUTES} minutes of this module are used up")


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results file; one that is thrown away in a rehearsal."""
    device = in_process("tests.gpu.results:describe_device")
    file = Path(os.environ.get("JUDGE_GPU_RESULTS", FILE))
    return Results(tmp_path_factory.mktemp("rehearsal") / "gpu.json" if REHEARSAL else file, device)


@pytest.fixture
def record(results: Results) -> Callable[..., None]:
    """Keep figures under a name, see :class:`tests.gpu.results.Results`."""

    def keep(name: str, **figures: object) -> None:
        print(name, figures)
        results.record(name, **figures)

    return keep


@pytest.fixture(scope="session")
def precision(results: Results) -> str:
    """The number format that the device trains in: bfloat16, or float16 on a T4."""
    return results.device["precision"]


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Folder of a random model of Qwen2.5's size ``0.5B``, ``1.5B`` or ``7B``."""
    root = tmp_path_factory.mktemp("models")

    def make(name: str) -> str:
        folder = root / name
        if not folder.exists():
            in_process("tests.gpu.world:write_model", folder=str(folder), name=name)
        return str(folder)

    return make


@pytest.fixture(scope="session")
def adapter_of(model_of: Callable[[str], str]) -> Callable[[str], str]:
    """Folder of a random adapter on such a model."""

    def make(name: str) -> str:
        folder = f"{model_of(name)}-adapter"
        if not Path(folder).exists():
            in_process("tests.gpu.world:write_adapter", folder=folder, model=model_of(name))
        return folder

    return make


@pytest.fixture(scope="session")
def judged_model(model_of: Callable[[str], str]) -> str:
    """The model that judges: ``JUDGE_GPU_MODEL``, or a random one of 0.5B."""
    return os.environ.get("JUDGE_GPU_MODEL") or model_of("0.5B")
