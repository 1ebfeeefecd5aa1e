"""How a launch config spreads a model over processes: what each of them holds of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judge.errors import InputError
from judge.files import open_text

CUT = {
    "fsdp": ("weights", "gradients", "optimizer"),
    "zero1": ("optimizer",),
    "zero2": ("gradients", "optimizer"),
    "zero3": ("weights", "gradients", "optimizer"),
}
"""What each kind cuts into parts, one a process."""


@dataclass(frozen=True, slots=True)
class Sharding:
    """``kind`` is one of :data:`CUT`, or empty where every process holds all of the model."""

    kind: str = ""
    processes: int = 1

    def parts(self, what: str) -> int:
        """In how many parts weights, gradients or the optimizer's states are cut."""
        return self.processes if what in CUT.get(self.kind, ()) else 1

    def __str__(self) -> str:
        return f"{self.kind or 'not sharded'}, {self.processes} processes" if self.processes > 1 else "alone"


NOT_SHARDED = Sharding()


def read_sharding(file: Path) -> Sharding:
    """What a config of ``accelerate launch`` says.

    Raises:
        InputError: it is no such config, or moves weights or states to the host.
    """
    with open_text(file) as stream:
        try:
            values: Any = yaml.safe_load(stream)
        except yaml.YAMLError as error:
            raise InputError(f"is not valid YAML ({' '.join(str(error).split()):.120})", file=file) from None
    kind = values.get("distributed_type") if isinstance(values, Mapping) else None
    if kind is None:
        message = "is missing; a config of accelerate launch has it"
        raise InputError(message, file=file, field="distributed_type")
    settings = values.get("deepspeed_config" if kind == "DEEPSPEED" else "fsdp_config") or {}
    if (
        any(settings.get(f"offload_{part}_device", "none") != "none" for part in ("optimizer", "param"))
        or settings.get("fsdp_offload_params") is True
    ):
        raise InputError("moves a part of the model to the host, which is not estimated", file=file)
    names = {"DEEPSPEED": f"zero{settings.get('zero_stage', 2)}", "FSDP": "fsdp"}
    return Sharding(names.get(kind, ""), int(values.get("num_processes", 1)))
