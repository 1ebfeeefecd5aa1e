"""Number formats for judging on a CPU: which of them do as float32 does for a judge, and how fast.

``judge eval --parity float32`` measures it and keeps it in ``judge.json``, by mode; ``--precision auto`` is
the fastest one that passed and that the CPU at hand has instructions for. Where nothing was measured, a CPU
judges in float32.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from judge.configs import StrictConfig
from judge.errors import InputError
from judge.files import JUDGE_FILE
from judge.models.hardware import Faster

FIELD = "parity"
CHANGED = 0.005
"""Largest share of labels that another number format may change."""
AUROC = 0.003
"""How far it may move the AUROC, up or down."""


class FormatParity(StrictConfig):
    """What judging in a number format changed against another, on the same labelled samples.

    ``p_fail_largest`` and ``p_fail_mean`` are absolute differences. ``auroc_before`` is that of ``against``,
    ``None`` where samples are of one class. ``batch_before`` and ``batch`` are how far at most the ``p_fail``
    of a sample alone is off that among the others, over some of them. ``speed`` is how many times as many
    samples it judges in the same processor time.
    """

    precision: Faster
    against: Literal["float32"] = "float32"
    rows: int
    labels_changed: int
    p_fail_largest: float
    p_fail_mean: float
    auroc_before: float | None
    auroc: float | None
    batch_before: float
    batch: float
    speed: float

    @property
    def holds(self) -> bool:
        """Whether it may stand for the other: labels and AUROC agree within the limits."""
        if self.auroc is None or self.auroc_before is None:
            return False
        moved = abs(self.auroc - self.auroc_before)
        return self.labels_changed <= CHANGED * self.rows and moved <= AUROC


class Parity(StrictConfig):
    """The number formats that were measured for a judge with one prompt; ``data`` names the samples."""

    prompt_hash: str
    data: str
    formats: tuple[FormatParity, ...] = Field(min_length=1)

    def of(self, precision: str) -> FormatParity | None:
        """What was measured of a number format, if it may stand for float32."""
        return next((one for one in self.formats if one.precision == precision and one.holds), None)

    def fastest(self, among: Collection[str]) -> Literal["float32"] | Faster:
        """The fastest of some number formats that may stand for float32, and is faster; else float32."""
        able = [one for one in self.formats if one.precision in among and one.holds and one.speed > 1]
        return max(able, key=lambda one: one.speed).precision if able else "float32"


def read_parity(identity: Mapping[str, Any], model: str, mode: str, prompt_hash: str) -> Parity | None:
    """What ``judge.json`` keeps for a mode and a prompt, if anything.

    Raises:
        InputError: it holds something else.
    """
    kept = identity.get(FIELD, {})
    try:
        found = Parity.model_validate(kept[mode]) if mode in kept else None
    except (TypeError, ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"holds no parity that can be read ({reason}); remove it, and run judge eval --parity float32",
            file=Path(model) / JUDGE_FILE,
            field=FIELD,
        ) from None
    return found if found is not None and found.prompt_hash == prompt_hash else None
