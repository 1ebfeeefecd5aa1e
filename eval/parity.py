"""``judge eval --parity float32``: what judging in another number format changes, and which one to judge in.

The same samples are judged in float32 and in each format that the CPU multiplies faster; labels,
probabilities and AUROC are held against each other (:mod:`judge.models.parity`).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.metrics import check_labelled, score
from judge.errors import InputError
from judge.files import JUDGE_FILE, write_json
from judge.models.hardware import Faster, this_device
from judge.models.identity import read_identity
from judge.models.parity import FIELD, FormatParity, Parity
from judge.shipped import model_path
from judge.types import Sample, Verdict

Load = Callable[[str], Any]
"""Loads the judge in a number format."""


ALONE = 20
"""So many samples are also judged one by one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts in one number format, those on the first samples alone, and the seconds of the processor."""

    verdicts: Sequence[Verdict]
    alone: Sequence[Verdict]
    seconds: float

    @property
    def batch(self) -> float:
        """How far at most a probability is off that of the sample alone."""
        return max(_moved(self.verdicts, self.alone), default=0.0)


def compare(samples: Sequence[Sample], before: Judged, after: Judged, precision: Faster) -> FormatParity:
    """What changed from float32 to another number format on the same labelled samples."""
    moved = _moved(before.verdicts, after.verdicts)
    pairs = zip(before.verdicts, after.verdicts, strict=True)
    return FormatParity(
        precision=precision,
        rows=len(samples),
        labels_changed=sum(one.label is not other.label for one, other in pairs),
        p_fail_largest=round(max(moved, default=0.0), 6),
        p_fail_mean=round(sum(moved) / max(len(moved), 1), 6),
        auroc_before=_auroc(samples, before.verdicts),
        auroc=_auroc(samples, after.verdicts),
        batch_before=round(before.batch, 9),
        batch=round(after.batch, 9),
        speed=round(before.seconds / max(after.seconds, 1e-9), 3),
    )


def _moved(before: Sequence[Verdict], after: Sequence[Verdict]) -> list[float]:
    """How far probabilities are apart, of as many as both have."""
    return [
        abs(one.p_fail - other.p_fail)
        for one, other in zip(before, after, strict=False)
        if one.p_fail is not None and other.p_fail is not None
    ]


def _auroc(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> float | None:
    found = score(samples, verdicts, bootstrap=0).auroc
    return None if found is None else round(found, 6)


def measure(
    load: Load, samples: Sequence[Sample], data: str, say: Callable[[str], None] = lambda text: None
) -> Parity:
    """Judge samples in float32 and in each faster format of this CPU.

    Args:
        load: loads the judge in a number format; a language model or an encoder, on a CPU.
        samples: labelled ones.
        data: what they are, in words.
        say: is told what is being judged in.

    Raises:
        InputError: a sample has no gold label, this device has no faster format, or the judge is no model.
    """
    check_labelled(samples)
    formats = this_device().faster()
    if not formats:
        raise InputError("parity is measured on CPUs with bfloat16 or VNNI instructions; this device is none")
    base = load("float32")
    if not hasattr(base, "parity"):
        raise InputError(
            "parity is that of a language model; a rule has none, and cross-encoders stay in float32"
        )
    found = base.describe()
    if found.get("quantization") or found["device"] != "cpu":
        raise InputError("parity is that of plain weights on a CPU; leave --quantization and GPUs away")
    calibrations = {
        mode: one.model_copy(update={"precision": None})  # it is what has to hold in the others, too
        for mode, one in base.calibrations.items()
        if base.misfit(one) is None
    }
    asked = {"calibrations": calibrations, "threshold": base.threshold}
    judged = _judge(replace(base, **asked), samples, say, "float32")
    del base
    rows: list[FormatParity] = []
    for precision in formats:
        other = _judge(replace(load(precision), **asked), samples, say, precision)
        rows.append(compare(samples, judged, other, precision))
    return Parity(prompt_hash=found["prompt_hash"], data=data, formats=tuple(rows))


def _judge(judge: Any, samples: Sequence[Sample], say: Callable[[str], None], precision: str) -> Judged:
    say(f"parity: {len(samples)} samples in {precision}")
    list(judge.iter_check(samples[:2]))  # the first call makes the kernels
    start = time.process_time()  # other work on the machine does not count
    verdicts = list(judge.iter_check(samples))
    seconds = time.process_time() - start
    alone = [verdict for sample in samples[:ALONE] for verdict in judge.iter_check([sample])]
    return Judged(verdicts, alone, seconds)


def keep(model: str, mode: str, parity: Parity) -> Path | None:
    """Write it to the ``judge.json`` of a local judge, where there is one; returns the file.

    What comes with the toolkit stays as it is.
    """
    file = Path(model) / JUDGE_FILE
    if model_path(model) != model or not file.is_file():
        return None
    identity = read_identity(model)
    identity[FIELD] = {**identity.get(FIELD, {}), mode: parity.model_dump(mode="json")}
    write_json(file, identity)
    return file


def parity_table(parity: Parity, chosen: str) -> Any:
    """The table for the terminal."""
    from rich.table import Table

    table = Table(padding=(0, 0, 0, 1), title=f"p_fail beside float32, on {parity.data}; auto is {chosen}")
    table.add_column("format", no_wrap=True)
    columns = ("speed", "labels", "largest", "mean", "AUROC", "float32", "batch", "holds")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in parity.formats:
        ranks = ["-" if value is None else f"{100 * value:.2f}" for value in (row.auroc, row.auroc_before)]
        table.add_row(
            row.precision, f"{row.speed:.2f}", f"{row.labels_changed}/{row.rows}",
            f"{row.p_fail_largest:.4f}", f"{row.p_fail_mean:.4f}", *ranks, f"{row.batch:.0e}",
            "yes" if row.holds else "no",
        )  # fmt: skip
    return table
