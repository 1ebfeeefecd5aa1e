"""How this process was started (``accelerate launch``, ``torchrun`` or neither), and its device."""

import os
import shutil
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.models import hardware


def launched() -> bool:
    """Whether a launcher started this process; both launchers set environment variables."""
    return "ACCELERATE_MIXED_PRECISION" in os.environ or "LOCAL_RANK" in os.environ


def obey_launcher() -> None:
    """Hide the GPUs if the launch config says ``use_cpu``, before anything in this process looks for them.

    ``accelerate launch`` without a config names no device; on a machine without a GPU the CPU is used.

    Raises:
        InputError: under the conditions of :func:`check_gpu`.
    """
    import torch

    if _no_device_asked() and shutil.which("nvidia-smi") is None and not torch.cuda.is_available():
        print("no GPU on this machine, and no launch config: training on the CPU", flush=True)
        os.environ["ACCELERATE_USE_CPU"] = "true"
        _use_all_cores()
    if hardware.cpu_is_chosen():
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    else:
        check_gpu()


def check_gpu() -> None:
    """Refuse to train on the CPU if the launch config is for GPUs: the user might only notice hours later.

    Raises:
        InputError: if torch cannot use a GPU; says why, and what to install.
    """
    import torch

    if not launched() or hardware.cpu_is_chosen() or torch.cuda.is_available():
        return
    raise InputError(
        f"the launch config is for GPUs, and torch has none: {_why_no_gpu()}. To train on the CPU, launch "
        "with accelerate_configs/cpu.yaml, or without a launcher"
    )


def _accelerate_options() -> set[str] | None:
    """Options of the ``accelerate launch`` that started only this process; ``None`` if none did.

    Only reads the options before the first value, which is enough here.
    """
    import psutil

    try:
        words = psutil.Process(os.getppid()).cmdline()
    except psutil.Error:
        return None
    for at, word in enumerate(words[:4]):
        called = word == "launch" and "accelerate" in words[at - 1]
        if "LOCAL_RANK" not in os.environ and (called or word == "accelerate.commands.launch"):
            return {*takewhile(lambda option: option.startswith("-"), words[at + 1 :])}
    return None


def _no_device_asked() -> bool:
    """Whether ``accelerate launch`` started this process without a device option or a saved config."""
    options = _accelerate_options()
    if options is None or options - {"-q", "--quiet", "-m", "--module"}:
        return False
    from accelerate.commands.config.config_args import default_config_file

    return not Path(default_config_file).is_file()


def _use_all_cores() -> None:
    """Undo the single thread that ``accelerate launch`` sets, unless the user set a number."""
    import psutil
    import torch

    with suppress(psutil.Error):
        if "OMP_NUM_THREADS" in psutil.Process(os.getppid()).environ():
            return
        torch.set_num_threads(hardware.cores())


def use_one_gpu(arguments: Any) -> None:
    """Restrict a process to one GPU; if several are visible, transformers' trainer uses ``DataParallel``.

    ``torch.nn.DataParallel`` copies a model at every step, and TRL and quantized weights do not support it.

    Args:
        arguments: arguments of transformers' trainer; changed in place.
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
    """Why torch has no GPU, in one sentence."""
    import torch

    if torch.version.cuda is None:
        return (
            f"torch {torch.__version__} is a build without CUDA; install one with CUDA: "
            "pip install -r requirements/gpu.txt"
        )
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return str(error).splitlines()[0].rstrip(".")
    return f"torch {torch.__version__} is built for CUDA {torch.version.cuda}, and finds no GPU"
