"""The capabilities of a device, and the number formats that suit it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge.errors import InputError

GIB = 2**30
CPU_FLAGS = Path("/proc/cpuinfo")
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of the container, "max" for no limit
MEMORY_FREE = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Device:
    """One device that a model runs on.

    ``memory_bytes`` is the total memory, not the free part. ``capability`` is CUDA's, ``None`` on a CPU.
    ``bfloat16`` means native bfloat16 matrix products: emulated ones are slower than float32.
    """

    kind: Literal["cpu", "cuda"]
    name: str
    memory_bytes: int
    capability: tuple[int, int] | None = None
    bfloat16: bool = False

    def precision(self, training: bool = False, trained: str | None = None) -> str:
        """The number format that suits the device, and a judge that was ``trained`` in some format.

        A GPU uses bfloat16 if it supports it (from CUDA capability 8.0), else float16; it judges in the
        format that the judge was trained in, if supported. A CPU judges in float32, and trains in bfloat16 if
        it has instructions for that, at twice the speed.
        """
        if self.kind == "cuda":
            if trained is not None and (trained != "bfloat16" or self.bfloat16):
                return trained
            return "bfloat16" if self.bfloat16 else "float16"
        return "bfloat16" if training and self.bfloat16 else "float32"

    def check_precision(self, precision: str) -> None:
        """Refuse to train in a number format that the device cannot train in. Raises ``InputError``."""
        if self.kind == "cuda" and precision == "bfloat16" and not self.bfloat16:
            raise InputError(f"precision bfloat16: {self.name} has none; set float16, or auto")
        if self.kind == "cpu" and precision == "float16":
            raise InputError("precision float16 trains on GPUs alone; set bfloat16 or float32, or auto")


def gpu(name: str, memory_bytes: float, capability: tuple[int, int]) -> Device:
    """A CUDA device with these figures."""
    return Device("cuda", name, int(memory_bytes), capability, bfloat16=capability >= (8, 0))


KNOWN_DEVICES = {
    "t4": gpu("Tesla T4", 14.6 * GIB, (7, 5)),
    "v100": gpu("Tesla V100", 15.8 * GIB, (7, 0)),
    "rtx3090": gpu("GeForce RTX 3090", 23.7 * GIB, (8, 6)),
    "a10g": gpu("A10G", 22.0 * GIB, (8, 6)),
    "l4": gpu("L4", 22.0 * GIB, (8, 9)),
    "rtx4090": gpu("GeForce RTX 4090", 23.6 * GIB, (8, 9)),
    "a100-40gb": gpu("A100 40 GB", 39.4 * GIB, (8, 0)),
    "a100-80gb": gpu("A100 80 GB", 79.2 * GIB, (8, 0)),
    "h100": gpu("H100", 79.2 * GIB, (9, 0)),
    "h200": gpu("H200", 139.8 * GIB, (9, 0)),
}
"""Devices to plan for, with the memory that their drivers leave for programs."""


def this_device() -> Device:
    """The device to compute on: this process's GPU, or the CPU if there is none or it was chosen."""
    import torch

    if torch.cuda.is_available() and not cpu_is_chosen():
        properties = torch.cuda.get_device_properties(local_rank())
        return gpu(properties.name, properties.total_memory, (properties.major, properties.minor))
    return Device("cpu", "CPU", main_memory(), bfloat16=_cpu_has("avx512_bf16", "amx_bf16"))


def cpu_is_chosen() -> bool:
    """Whether the CPU was requested: ``use_cpu: true`` in a launch config, or hidden GPUs."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip()
    asked = os.environ.get("ACCELERATE_USE_CPU", "false").lower() in ("true", "1", "yes", "y", "on", "t")
    return asked or visible == "" or visible.startswith("-")


def local_rank() -> int:
    """Number of this process's GPU: a launcher starts one process per GPU."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def main_memory() -> int:
    """Bytes of main memory, or of the container's share of it."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = MEMORY_LIMIT.read_text().strip() if MEMORY_LIMIT.is_file() else "max"
    return min(machine, int(limit)) if limit.isdecimal() else machine


def free_memory(kind: str) -> int:
    """Bytes of free memory on this process's device, ``cuda`` or ``cpu``."""
    if kind == "cuda":
        import torch

        unused = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return int(torch.cuda.mem_get_info()[0] + unused)
    free = main_memory()
    if MEMORY_FREE.is_file():
        free = min(free, 1024 * _count(MEMORY_FREE, "MemAvailable:"))
    used = MEMORY_LIMIT.with_name("memory.current")
    limit = MEMORY_LIMIT.read_text().strip() if used.is_file() and MEMORY_LIMIT.is_file() else "max"
    if limit.isdecimal():  # the file cache counts as used, but is given up when memory is needed
        kept = _count(used.with_name("memory.stat"), "inactive_file")
        free = min(free, int(limit) - int(used.read_text()) + kept)
    return max(free, 0)


def _count(file: Path, name: str) -> int:
    """The number after a name in one of the kernel's files."""
    words = file.read_text().split()
    return int(words[words.index(name) + 1])


def _cpu_has(*flags: str) -> bool:
    """Whether the CPU has one of these features."""
    return CPU_FLAGS.is_file() and bool(set(flags) & set(CPU_FLAGS.read_text(encoding="utf-8").split()))


def cores() -> int:
    """Number of cores that this process may use: more threads would wait for each other."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
