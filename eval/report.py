"""A result with everything that is needed to read it again and to make it again."""

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.metrics import Interval, Metrics
from eval.verdicts import REPORT, RUN
from judge.errors import InputError
from judge.files import write_json
from judge.types import Mode

if TYPE_CHECKING:
    from rich.table import Table

PACKAGES = (
    "hallucination-judge", "torch", "transformers", "peft", "vllm", "numpy", "scikit-learn",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """One judge on one benchmark.

    ``judge`` is its :meth:`~judge.checker.Checker.describe`; ``counts`` are samples: all, parsed, unparsed,
    truncated, cut, and those resumed from an interrupted run. ``floors`` maps a floor's name to its figures
    on the same samples, ``floors_by_source`` further to each source; a floor that could not be fitted stands
    in ``floors_left_out`` with the reason. ``samples_per_second`` is over the samples judged in this run.
    ``date`` is UTC.
    """

    benchmark: str
    name: str
    mode: Mode
    judge: dict[str, Any]
    counts: dict[str, int]
    metrics: Metrics
    by_source: dict[str, Metrics]
    floors: dict[str, Metrics]
    floors_by_source: dict[str, dict[str, Metrics]]
    floors_left_out: dict[str, str]
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

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "Report":
        """Back from :meth:`to_json`, also after a journey through JSON.

        Raises:
            InputError: a field is missing or wrong.
        """

        def table(values: Mapping[str, Any]) -> dict[str, Metrics]:
            return {name: Metrics.from_dict(value) for name, value in values.items()}

        try:
            values = {field.name: row[field.name] for field in fields(cls)}
            values["metrics"] = Metrics.from_dict(row["metrics"])
            values["by_source"] = table(row["by_source"])
            values["floors"] = table(row["floors"])
            values["floors_by_source"] = {
                name: table(value) for name, value in row["floors_by_source"].items()
            }
        except KeyError as error:
            raise InputError("is missing; is this a report.json?", field=str(error.args[0])) from None
        except (AttributeError, TypeError) as error:
            raise InputError(f"this is no report ({error})") from None
        return cls(**values)


def hardware() -> dict[str, Any]:
    """Processor count and platform, and the accelerator where torch is in use."""
    found: dict[str, Any] = {"cpus": os.cpu_count(), "platform": platform.platform(), "device": None}
    torch = sys.modules.get("torch")
    if torch is not None:
        cuda = torch.cuda.is_available()
        found["device"] = torch.cuda.get_device_name() if cuda else "cpu"
    return found


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on, as far as they are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    """The content of ``report.json``."""
    return {"reports": [report.to_json() for report in reports]}


def write_reports(out: Path, reports: Sequence[Report]) -> None:
    """Write ``out/report.json``, which finishes the result."""
    write_json(out / REPORT, as_json(reports))
    (out / RUN).unlink(missing_ok=True)


def _percent(value: float | None, interval: Interval | None = None) -> str:
    """Percent with one decimal, and its interval on a second line."""
    if value is None:
        return "-"
    text, *bounds = ("100" if share == 1 else f"{100 * share:.1f}" for share in (value, *(interval or ())))
    return f"{text}\n[dim]{'-'.join(bounds)}[/dim]" if bounds else text


def _row(metrics: Metrics) -> list[str]:
    return [
        str(metrics.n),
        _percent(metrics.accuracy, metrics.accuracy_ci),
        _percent(metrics.balanced_accuracy, metrics.balanced_accuracy_ci),
        f"{_percent(metrics.precision)}\n{_percent(metrics.recall)}",
        _percent(metrics.f1, metrics.f1_ci),
        _percent(metrics.auroc, metrics.auroc_ci),
    ]


def _table(report: Report) -> "Table":
    from rich.box import SIMPLE
    from rich.markup import escape
    from rich.table import Table

    counts = report.counts
    notes = [
        f"Percent; P, R and F1 are those of FAIL; 95 % intervals by document. Mode {report.mode}; "
        f"parsed {counts['parsed']} of {counts['n']}; outputs cut off {counts['truncated']}; "
        f"documents shortened {counts['cut']}."
    ]
    notes += [f"{name} left out: {reason}" for name, reason in report.floors_left_out.items()]
    title = f"{report.benchmark}: {report.metrics.n_pass} PASS, {report.metrics.n_fail} FAIL"
    table = Table(
        title=escape(title), caption=escape("\n".join(notes)), box=SIMPLE, title_justify="left",
        caption_justify="left", pad_edge=False, padding=(0, 0, 0, 1),
    )  # fmt: skip
    table.add_column("judge", overflow="fold")
    for heading in ("n", "accuracy", "balanced", "P\nR", "F1", "AUROC"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row(escape(report.name), *_row(report.metrics), style="bold")
    for name, metrics in report.floors.items():
        table.add_row(escape(name), *_row(metrics))
    if len(report.by_source) > 1:
        for source, metrics in report.by_source.items():
            table.add_section()
            table.add_row(escape(source), *_row(metrics), style="bold")
            rows = {name: found[source] for name, found in report.floors_by_source.items() if source in found}
            if rows:
                best = max(rows, key=lambda name: rows[name].accuracy)
                table.add_row(escape(f"best: {best.removeprefix('floor:')}"), *_row(rows[best]))
    return table


def console_table(reports: Sequence[Report]) -> "list[Table]":
    """One table a report: the judge, then the floors; beneath, by source, the judge and the best floor."""
    return [_table(report) for report in reports]
