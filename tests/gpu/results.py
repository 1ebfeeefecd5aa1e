"""The file that figures are kept in: by device, then by name; with when and with what they were measured."""

import datetime
import importlib.metadata
import json
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.files import write_json

PACKAGES = ("transformers", "trl", "peft", "bitsandbytes", "vllm")


@dataclass(frozen=True)
class Results:
    """A results file, and the device that is measured on, as :func:`describe_device` tells it."""

    file: Path
    device: dict[str, Any]

    def record(self, name: str, **figures: Any) -> None:
        """Keep figures under a name such as ``training/0.5B, dpo-955``, in place of those kept before.

        The file is written anew beside and renamed, so that a run that is stopped keeps what it has measured.
        """
        kept = json.loads(self.file.read_text(encoding="utf-8")) if self.file.is_file() else {}
        about = {key: value for key, value in self.device.items() if key != "name"}
        day = datetime.datetime.now(datetime.UTC).date().isoformat()
        kept.setdefault(self.device["name"], {})[name] = {"figures": figures, "about": {"date": day, **about}}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.file, kept)


def describe_device() -> dict[str, Any]:
    """The device at hand: name, kind, memory, number format that it trains in, driver; versions."""
    import torch

    from judge.models.hardware import GIB, this_device

    device = this_device()
    versions = {"torch": torch.__version__, "cuda": torch.version.cuda}
    for package in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    memory = round(device.memory_bytes / GIB, 1)
    return {
        "name": device.name,
        "kind": device.kind,
        "memory_gib": memory,
        "precision": device.precision(training=True),
        "driver": _driver(),
        "versions": versions,
    }


def _driver() -> str | None:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.split()[0] if done.stdout.split() else None
