"""What started this process, ``accelerate launch``, ``torchrun`` or nobody, and the device that follows."""

import os
import shutil
import subprocess
from typing import Any

from judge.errors import InputError
from judge.models import hardware

DRIVERS = {"11": "450.80", "12": "525.60", "13": "580"}
"""The oldest Linux driver for each major version of CUDA (NVIDIA, CUDA Compatibility, minor versions)."""


def launched() -> bool:
    """Whether a launcher started this process; both launchers leave their mark in its environment."""
    return "ACCELERATE_MIXED_PRECISION" in os.environ or "LOCAL_RANK" in os.environ


def obey_launcher() -> None:
    """Hide the GPUs where the launch config says ``use_cpu``, before anything in this process asks for them.

    Raises:
        InputError: as :func:`check_gpu`.
    """
    if hardware.cpu_is_chosen():
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    else:
        check_gpu()


def check_gpu() -> None:
    """Refuse to train on the CPU where a launch config is for GPUs: hours later somebody would wonder.

    Raises:
        InputError: there is no GPU that torch can use; says why, and what to install.
    """
    import torch

    if not launched() or hardware.cpu_is_chosen() or torch.cuda.is_available():
        return
    raise InputError(
        f"the launch config is for GPUs, and torch has none: {_why_no_gpu()}. To train on the CPU, launch "
        "with accelerate_configs/cpu.yaml, or without a launcher"
    )


def use_one_gpu(arguments: Any) -> None:
    """Keep a process to one GPU; with several visible, transformers' trainer would split batches by threads.

    ``torch.nn.DataParallel`` copies a model at every step, and neither TRL nor quantized weights bear it.

    Args:
        arguments: of transformers' trainer; changed in place.
    """
    visible = arguments.n_gpu
    if visible > 1:
        arguments._n_gpu = 1
        print(
            f"{visible} GPUs are visible and one process was started: it trains on the first. "
            "For all of them: accelerate launch --config_file accelerate_configs/ddp.yaml "
            f"--num_processes {visible} ...",
            flush=True,
        )


def _why_no_gpu() -> str:
    """Torch's build, the driver, and what to install, in one sentence."""
    import torch

    driver, cuda = _driver(), torch.version.cuda
    found = f"the driver is {driver}" if driver else "nvidia-smi finds no driver"
    if cuda is None:
        return (
            f"torch {torch.__version__} is a build without CUDA ({found}); "
            "install one with CUDA: pip install -r requirements/gpu.txt"
        )
    try:
        torch.cuda.init()
        reason = "no reason given"
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
    oldest = DRIVERS.get(cuda.split(".")[0], DRIVERS["13"])
    return (
        f"torch {torch.__version__} is built for CUDA {cuda}, {found} ({reason}); install NVIDIA's "
        f"driver {oldest} or newer, or a torch that is built for the CUDA of this driver"
    )


def _driver() -> str | None:
    """The driver's version by ``nvidia-smi``, or ``None``."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    query = [command, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        run = subprocess.run(query, capture_output=True, text=True, timeout=30)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = run.stdout.split("\n")
    return lines[0].strip() or None if run.returncode == 0 else None
