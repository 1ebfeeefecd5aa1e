"""What started this process, ``accelerate launch``, ``torchrun`` or nobody, and the device that follows."""

import os
import shutil
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.models import hardware


def launched() -> bool:
    """Whether a launcher started this process; both launchers leave their mark in its environment."""
    return "ACCELERATE_MIXED_PRECISION" in os.environ or "LOCAL_RANK" in os.environ


def obey_launcher() -> None:
    """Hide the GPUs where the launch config says ``use_cpu``, before anything in this process asks for them.

    ``accelerate launch`` without a config asks for no device: on a machine without a GPU it is the CPU.

    Raises:
        InputError: as :func:`check_gpu`.
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


def _accelerate_options() -> set[str] | None:
    """Options of the ``accelerate launch`` that started this process alone; ``None`` where none did.

    Only those before the first value are seen; that is far enough for what is asked of them here.
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
    """Whether ``accelerate launch`` was called without options, and ``accelerate config`` never was."""
    options = _accelerate_options()
    if options is None or options - {"-q", "--quiet", "-m", "--module"}:
        return False
    from accelerate.commands.config.config_args import default_config_file

    return not Path(default_config_file).is_file()


def _use_all_cores() -> None:
    """Undo the one thread that ``accelerate launch`` sets where its user set no number."""
    import psutil
    import torch

    with suppress(psutil.Error):
        if "OMP_NUM_THREADS" in psutil.Process(os.getppid()).environ():
            return
        torch.set_num_threads(hardware.cores())


def use_one_gpu(arguments: Any) -> None:
    """Keep a process to one GPU; with several visible, transformers' trainer would split batches by threads.

    ``torch.nn.DataParallel`` copies a model at every step, and TRL and quantized weights do not support it.

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
    """What torch says, in one sentence."""
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
