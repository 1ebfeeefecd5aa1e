"""The report of a run, with everything needed to read it later and to reproduce it."""

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
from eval.open_factual.tasks import BENCHMARK as OPEN_FACTUAL
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
    """Seconds for a sample judged alone: median and 95th percentile over ``samples`` samples."""

    samples: int
    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class Report:
    """One judge on one benchmark.

    ``judge`` is its :meth:`~judge.checker.Checker.describe`, with a fingerprint of local weights; ``counts``
    are numbers of samples: all, parsed, unparsed, truncated, cut, and resumed from an interrupted run.
    ``tables`` are the common figures by part of the benchmark, ``figures`` the benchmark's own measures.
    ``baselines``, ``baseline_tables`` and ``baseline_figures`` are the same for the baselines;
    ``baselines_left_out`` gives the reason for each baseline that could not be fitted. ``published`` holds
    the figures of others, see :mod:`eval.published`; ``notes`` say where this departs from their protocol.
    ``samples_per_second`` counts only samples judged in this call, not resumed ones. ``date`` is UTC.
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
        """The common figures; for repeated runs the means, without intervals (those are of the first run)."""
        if self.repeats is None:
            return self.metrics
        changed: dict[str, Any] = {f"{name}_ci": None for name in INTERVALS}
        changed |= {name: self.repeats.mean.get(name) for name in FIGURES}
        return replace(self.metrics, **changed)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Report":
        """The inverse of ``asdict``, also for values read from JSON; fields with defaults may be absent.

        Raises:
            InputError: if a field is missing or wrong.
        """
        try:
            return TypeAdapter(cls).validate_python(todays_names(row))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or None
            raise InputError(f"{first['msg']}; is this a report.json?", field=field) from None


def todays_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A report with current names: until version 0.3 baselines were ``floors``, called ``floor:NAME``."""
    found = {name.replace("floor", "baseline"): value for name, value in row.items()}
    for name, value in found.items():
        if name.startswith("baseline") and isinstance(value, Mapping):
            found[name] = {rule.replace("floor:", "baseline:"): figures for rule, figures in value.items()}
    return found


def decoding_text(judge: Mapping[str, Any]) -> str:
    """How a judge's replies were decoded, in words; empty if it generates none.

    Args:
        judge: its description, see :attr:`Report.judge`.
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
    """CPU count, platform, number of processes; with torch loaded, the device, its memory and peak use (GiB).

    ``label`` is the user's name for the machine.
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
    """The command of this process as one types it, without the path of the program on this machine."""
    name = Path(sys.argv[0]).name
    return shlex.join(["judge" if name == "__main__.py" else name, *sys.argv[1:]])


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that a result depends on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def distinct_names(runs: Sequence[tuple[str, str, Path]]) -> list[str]:
    """Unique names for runs given as (name, mode, folder): mode, then folder is added where names clash."""
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
    return {"reports": [asdict(report) for report in reports]}


def write_reports(out: Path, reports: Sequence[Report]) -> None:
    """Write ``out/report.json``, which marks the result as finished."""
    write_json(out / REPORT, as_json(reports))


def read_reports(out: Path) -> list[Report]:
    """The reports of a result folder.

    Raises:
        InputError: if there is no ``report.json``, or it is not a report.
    """
    path = out / REPORT
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["reports"]
        if any(isinstance(row, dict) and row.get("benchmark") == OPEN_FACTUAL for row in rows):
            raise InputError(f"is a result of {OPEN_FACTUAL}, which measures no judge; judge report shows it")
        return [Report.from_dict(row) for row in rows]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); is the run finished?", file=path) from None
    except InputError as error:
        raise InputError(str(error), file=path) from None
    except (ValueError, KeyError, TypeError) as error:
        why = f"is not valid JSON: {error}" if isinstance(error, ValueError) else "has no list of reports"
        raise InputError(f"{why}; give a report of `judge eval`", file=path) from None
