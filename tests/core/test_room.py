"""Weights that do not fit are refused in one line, before anything is read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.load import load_judge
from judge.models import hardware
from judge.models.hardware import GIB, KNOWN_DEVICES, Device
from judge.models.room import check_room

LYNX = "meta-llama/Meta-Llama-3-70B-Instruct"
CPU = Device("cpu", "CPU", 64 * GIB)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[Device, float], None]:
    """Stand on a device, with so many GiB of main memory."""

    def stand(device: Device, main: float) -> None:
        monkeypatch.setattr(hardware, "this_device", lambda: device)
        monkeypatch.setattr(hardware, "main_memory", lambda: int(main * GIB))

    return stand


@pytest.mark.parametrize(
    ("device", "main", "message"),
    [
        (
            "h100",
            512,
            "take 131 GiB in bfloat16, and H100 has 79 GiB; spread it over 2 GPUs: --backend vllm ",
        ),
        ("a100-40gb", 512, "tensor_parallel_size=4"),
        ("h200", 100, "and this machine's main memory has 100 GiB; spread it over 2 GPUs"),
        ("cpu", 64, "take 131 GiB in bfloat16, and CPU has 64 GiB; ask a server that runs it"),
    ],
)
def test_70_billion_parameters_are_refused_before_they_are_read(
    device: str, main: float, message: str, here: Callable[[Device, float], None]
) -> None:
    here(KNOWN_DEVICES.get(device, CPU), main)
    with pytest.raises(InputError) as refusal:
        load_judge(LYNX, precision="bfloat16")
    assert message in str(refusal.value) and "\n" not in str(refusal.value)


def test_what_fits_is_let_pass(here: Callable[[Device, float], None], tmp_path: Path) -> None:
    here(KNOWN_DEVICES["h200"], 512)
    check_room(LYNX, "bfloat16")
    here(KNOWN_DEVICES["h100"], 32)
    check_room(LYNX, "bfloat16", "nf4")  # made on the device, layer by layer
    here(KNOWN_DEVICES["t4"], 1)
    (tmp_path / "config.json").write_text(json.dumps({"num_local_experts": 8}))
    check_room(str(tmp_path), "float16")  # nobody can tell its size from its config
