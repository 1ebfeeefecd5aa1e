"""A result with everything that is needed to read it again and to make it again."""

import json
import os
import platform
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from eval import processes
from eval.benchmarks.base import Figures
from eval.calibration import Calibration
from eval.metrics import INTERVALS, Metrics
from eval.repeats import FIGURES, Repeats, Tables
from eval.verdicts import REPORT
from judge.errors import InputError
from judge.files import write_json
from judge.models.hardware import GIB
from judge.types import Mode

PACKAGES = (
    "hallucination-judge", "torch", "transformers", "peft", "vllm", "numpy", "scikit-learn",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds for one sample, judged alone: median and 95th percentile over this many samples."""

    samples: int
    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class Report:
    """One judge on one benchmark.

    ``judge`` is its :meth:`~judge.checker.Checker.describe`, with a fingerprint of local weights; ``counts``
    are samples: all, parsed, unparsed, truncated, cut, and those resumed from an interrupted run.
    ``tables`` are the common figures by part of the benchmark, ``figures`` its own measures.
    ``baselines``, ``baseline_tables`` and ``baseline_figures`` are the same for the baselines; one that could
    not be fitted is in ``baselines_left_out`` with the reason. ``published`` is what others report, see
    :mod:`eval.published`. ``notes`` say where this departs from the published protocol.
    ``samples_per_second`` is over the samples
    judged in this call. ``date`` is UTC.
    """

    benchmark: str
    title: str
    name: str
    mode: Mode
    judge: dict[str, Any]
    counts: dict[str, int]
    metrics: Metrics
    tables: Tables
    figures: Figures
    calibration: Calibration
    repeats: Repeats | None
    latency: Latency | None
    baselines: dict[str, Metrics]
    baseline_tables: dict[str, Tables]
    baseline_figures: dict[str, Figures]
    baselines_left_out: dict[str, str]
    published: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    data_hash: str
    seed: int
    limit: int | None
    bootstrap: int
    wall_seconds: float
    samples_per_second: float | None
    hardware: dict[str, Any]
    versions: dict[str, str]
    command: str
    date: str

    def mean_metrics(self) -> Metrics:
        """The common figures; of repeated runs their means, without the intervals, which are of the first."""
        if self.repeats is None:
            return self.metrics
        changed: dict[str, Any] = {f"{name}_ci": None for name in INTERVALS}
        changed |= {name: self.repeats.mean.get(name) for name in FIGURES}
        return replace(self.metrics, **changed)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Report":
        """Back from :meth:`to_json`, also after a journey through JSON; what has a default may be absent.

        Raises:
            InputError: a field is missing or wrong.
        """
        try:
            return TypeAdapter(cls).validate_python(todays_names(row))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or None
            raise InputError(f"{first['msg']}; is this a report.json?", field=field) from None


def todays_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A report with today's names: until version 0.3 baselines were ``floors``, called ``floor:NAME``."""
    found = {name.replace("floor", "baseline"): value for name, value in row.items()}
    for name, value in found.items():
        if name.startswith("baseline") and isinstance(value, Mapping):
            found[name] = {rule.replace("floor:", "baseline:"): figures for rule, figures in value.items()}
    return found


def decoding_text(judge: Mapping[str, Any]) -> str:
    """How a judge's replies were decoded, in words; empty where none were.

    Args:
        judge: what it says of itself, see :attr:`Report.judge`.
    """
    if "max_new_tokens" not in judge:
        return ""
    limit = f"at most {judge['max_new_tokens']} tokens"
    if "guided" in judge:
        limit = f"{'constrained' if judge['guided'] else 'free'}, {limit}"
    if not judge.get("temperature"):
        return f"greedy, {limit}"
    top_p, top_k = judge.get("top_p"), judge.get("top_k")
    if top_k == 0:
        top_k = "all" if judge.get("server", "vllm") == "vllm" else "the server's own"
    return (
        f"temperature {judge['temperature']:g}, top_p {'not given' if top_p is None else f'{top_p:g}'}, "
        f"top_k {'not given' if top_k is None else top_k}, seed {judge.get('seed')}, {limit}"
    )


def hardware(label: str | None = None) -> dict[str, Any]:
    """Processor count and platform; where torch is in use the accelerator, its memory, the most in use (GiB).

    ``label`` is what the user calls the machine.
    """
    found: dict[str, Any] = {"cpus": os.cpu_count(), "platform": platform.platform(), "device": None}
    if label is not None:
        found["label"] = label
    if (together := processes.count()) > 1:
        found["processes"] = together
    torch = sys.modules.get("torch")
    if torch is not None:
        cuda = torch.cuda.is_available()
        found["device"] = torch.cuda.get_device_name() if cuda else "cpu"
        if cuda:
            found["gpu_memory_gib"] = round(torch.cuda.get_device_properties(0).total_memory / GIB, 1)
            found["gpu_memory_peak_gib"] = round(torch.cuda.max_memory_allocated() / GIB, 2)
    return found


def this_command() -> str:
    """The command of this process as one types it: reports are passed on, a machine's folders say nothing."""
    name = Path(sys.argv[0]).name
    return shlex.join(["judge" if name == "__main__.py" else name, *sys.argv[1:]])


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on, as far as they are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def told_apart(runs: Sequence[tuple[str, str, Path]]) -> list[str]:
    """Names of runs, given as name, mode and folder, that differ: by mode and then by folder where needed."""
    names = [name for name, *_ in runs]
    for more in (lambda mode, folder: mode, lambda _, folder: folder.name, lambda _, folder: folder):
        times = Counter(names)
        names = [
            name if times[name] == 1 else f"{first} ({more(*rest)})"
            for name, (first, *rest) in zip(names, runs, strict=True)
        ]
    return names


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    """The content of ``report.json``."""
    return {"reports": [report.to_json() for report in reports]}


def write_reports(out: Path, reports: Sequence[Report]) -> None:
    """Write ``out/report.json``, which finishes the result."""
    write_json(out / REPORT, as_json(reports))


def read_reports(out: Path) -> list[Report]:
    """The reports of a result folder.

    Raises:
        InputError: there is no ``report.json``, or it is not one.
    """
    path = out / REPORT
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["reports"]
        return [Report.from_dict(row) for row in rows]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); is the run finished?", file=path) from None
    except InputError as error:
        raise InputError(str(error), file=path) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is not a report of `judge eval` ({error!r})", file=path) from None
