"""What devices can do: number formats by capability, and the device at hand as the libraries tell of it."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from judge.errors import InputError
from judge.models import hardware
from judge.models.hardware import GIB, KNOWN_DEVICES, Device, gpu, this_device


@pytest.mark.parametrize(
    ("device", "training", "judging", "of_bfloat16", "of_float16"),
    [
        (gpu("T4", 15 * GIB, (7, 5)), "float16", "float16", "float16", "float16"),
        (gpu("A100", 80 * GIB, (8, 0)), "bfloat16", "bfloat16", "bfloat16", "float16"),
        (Device("cpu", "CPU", GIB, bfloat16=True), "bfloat16", "float32", "float32", "float32"),
        (Device("cpu", "CPU", GIB), "float32", "float32", "float32", "float32"),
    ],
)
def test_number_formats_follow_from_capability(
    device: Device, training: str, judging: str, of_bfloat16: str, of_float16: str
) -> None:
    """A GPU judges in the format of the training where it has it."""
    assert device.precision(training=True) == training
    assert device.precision() == judging
    assert device.precision(trained="bfloat16") == of_bfloat16
    assert device.precision(trained="float16") == of_float16
    for precision in (training, judging):
        device.check_precision(precision)


@pytest.mark.parametrize(
    ("device", "precision"),
    [(KNOWN_DEVICES["t4"], "bfloat16"), (Device("cpu", "CPU", GIB), "float16")],
)
def test_formats_that_a_device_cannot_train_in(device: Device, precision: str) -> None:
    with pytest.raises(InputError, match=f"precision {precision}.*or auto"):
        device.check_precision(precision)


@pytest.mark.parametrize("rank", [0, 3])
def test_a_process_has_the_gpu_of_its_rank(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [SimpleNamespace(name=f"GPU {i}", total_memory=i * GIB, major=7, minor=5) for i in range(4)]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", cards.__getitem__)
    monkeypatch.setenv("LOCAL_RANK", str(rank))
    found = this_device()
    assert found == Device("cuda", f"GPU {rank}", rank * GIB, (7, 5), bfloat16=False)


@pytest.mark.parametrize(("limit", "share"), [("max", None), (str(GIB), GIB), (str(2**60), None)])
def test_memory_is_that_of_the_container(
    limit: str, share: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(hardware, "MEMORY_LIMIT", tmp_path / "none")
    whole = this_device().memory_bytes
    (tmp_path / "limit").write_text(f"{limit}\n")
    monkeypatch.setattr(hardware, "MEMORY_LIMIT", tmp_path / "limit")
    assert this_device().memory_bytes == (share or whole)


@pytest.mark.parametrize(
    ("flags", "has"), [("flags : fpu avx512_bf16 sse", True), ("flags : fpu avx512f", False), (None, False)]
)
def test_a_cpu_with_bfloat16(
    flags: str | None, has: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    if flags is not None:
        (tmp_path / "cpuinfo").write_text(flags)
    monkeypatch.setattr(hardware, "CPU_FLAGS", tmp_path / "cpuinfo")
    assert this_device().bfloat16 is has


def test_free_memory_is_what_neither_machine_nor_container_has_given_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "meminfo": "MemTotal: 100 kB\nMemAvailable: 50 kB\n",
        "memory.max": "40960",
        "memory.current": "30720\n",
        "memory.stat": "anon 25600\ninactive_file 5120\n",  # files that were read, given up when wanted
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(hardware, "MEMORY_LIMIT", tmp_path / "memory.max")
    monkeypatch.setattr(hardware, "MEMORY_FREE", tmp_path / "meminfo")
    assert hardware.free_memory("cpu") == 40960 - 30720 + 5120
    (tmp_path / "memory.max").write_text("max\n")
    assert hardware.free_memory("cpu") == 50 * 1024
    monkeypatch.setattr(hardware, "MEMORY_FREE", tmp_path / "none")
    monkeypatch.setattr(hardware, "MEMORY_LIMIT", tmp_path / "none")
    assert hardware.free_memory("cpu") == hardware.main_memory()
