"""The registry of results: ``index.json`` and the reports it lists. Anyone can add runs.

Entries of the index are derived from the reports, never written by hand; :func:`check` compares the two.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import Field

from eval.open_factual.refusals import STRESS_LABELS
from eval.verdicts import REPORT, VERDICTS
from judge.configs import Config, StrictConfig, make_config
from judge.errors import InputError
from judge.files import read_json, sha256_file, write_json, write_text

INDEX = Path("results/index.json")
FIGURES = (
    "accuracy", "accuracy_extended", "accuracy_similar", "accuracy_judged", "balanced_accuracy", "f1",
    "auroc", "coverage",
)  # fmt: skip
"""Figures that an entry copies from its report, if the report has them."""

Text = Annotated[str, Field(min_length=1)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Samples = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)] | None


class Result(StrictConfig, strict=True):
    """The part of an entry about one benchmark of its report."""

    benchmark: Text
    name: Text
    mode: Text
    n: Samples
    date: Text
    data_hash: Text
    figures: dict[str, Share]
    hardware: str
    stress_tests: dict[str, Count]


class Run(StrictConfig, strict=True):
    """One entry: a finished run."""

    id: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,99}$")]
    report_sha256: Hash
    verdicts_sha256: Hash
    results: Annotated[list[Result], Field(min_length=1)]


class Index(StrictConfig, strict=True):
    """``index.json``."""

    version: Literal[1]
    description: Text
    runs: list[Run]


class _Counts(StrictConfig, extra="ignore", strict=True):
    n: Samples


class _Metrics(StrictConfig, extra="allow", strict=True):
    accuracy: Share


class _Report(StrictConfig, extra="ignore", strict=True):
    """The fields a report needs to be listed; it may have others."""

    benchmark: Text
    name: Text
    mode: Text
    counts: _Counts
    metrics: _Metrics
    data_hash: Text
    hardware: dict[str, Any]
    versions: dict[str, Any]
    command: Text
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}")]


class _Reports(StrictConfig, extra="ignore", strict=True):
    reports: Annotated[list[_Report], Field(min_length=1)]


def add(run_dir: Path, index: Path = INDEX) -> str:
    """Copy the report of a finished run next to the index and list it there; returns the entry's id.

    The verdicts are not copied, because they contain text of the benchmarks; their hash is kept, so that
    others can ask for them and check that they are the right ones.

    Raises:
        InputError: if the run is not finished, its report lacks a field, or it is listed already.
    """
    listed = _read_index(index)
    results = _results(run_dir / REPORT)
    if not (run_dir / VERDICTS).is_file():
        raise InputError(f"holds no {VERDICTS}; the verdicts of a listed run must exist", file=run_dir)
    digest = sha256_file(run_dir / REPORT)
    if digest in [run.report_sha256 for run in listed.runs]:
        raise InputError(f"its {REPORT} is in {index} already", file=run_dir)
    first = results[0]
    slug = re.sub(r"[^a-z0-9]+", "-", f"{first.date[:10]}-{first.name}".lower())[:80].strip("-")
    name = f"{slug}-{digest[:8]}"
    verdicts = sha256_file(run_dir / VERDICTS)
    entry = Run(id=name, report_sha256=digest, verdicts_sha256=verdicts, results=results)
    # Copied unchanged, because the hash is over the bytes.
    write_text(index.parent / name / REPORT, (run_dir / REPORT).read_bytes().decode())
    write_json(index, listed.model_copy(update={"runs": [*listed.runs, entry]}).model_dump())
    return name


def folders(index: Path) -> list[Path]:
    """The folders of the runs that an index lists, each with its report.

    Raises:
        InputError: if the file is not an index, or lists no runs.
    """
    if index.suffix != ".json":
        raise InputError("is not a result; give a folder that `judge eval --out` wrote", file=index)
    found = [index.parent / run.id for run in _read_index(index).runs]
    if not found:
        raise InputError("lists no run; add some with `judge results add`", file=index)
    return found


def check(index: Path = INDEX) -> int:
    """Validate an index and compare it with the reports next to it; returns the number of runs.

    Raises:
        InputError: for the first fault found: a wrong field, a report that is missing, was changed or
            differs from its entry, an id that occurs twice, or a folder that is not listed.
    """
    listed = _read_index(index)
    names: set[str] = set()
    for number, run in enumerate(listed.runs):
        field = f"runs.{number}"
        if run.id in names:
            raise InputError(f"{run.id!r} is listed twice", file=index, field=f"{field}.id")
        names.add(run.id)
        report = index.parent / run.id / REPORT
        results = _results(report)
        if sha256_file(report) != run.report_sha256:
            raise InputError("was changed after it was listed; add the run again", file=report)
        if results != run.results:
            raise InputError(f"says something else than {report}", file=index, field=f"{field}.results")
    stray = sorted({path.name for path in index.parent.iterdir() if path.is_dir()} - names)
    if stray:
        raise InputError(f"does not list the folder {stray[0]!r} next to it; add runs with add", file=index)
    return len(names)


def _results(report: Path) -> list[Result]:
    """The results of an entry, made from its report: one per benchmark."""
    rows = [
        {
            "benchmark": found.benchmark,
            "name": found.name,
            "mode": found.mode,
            "n": found.counts.n,
            "date": found.date,
            "data_hash": found.data_hash,
            "figures": {name: values[name] for name in FIGURES if name in values},
            "hardware": str(found.hardware.get("label") or found.hardware.get("device") or "unknown"),
            "stress_tests": {name: values[name] for name in STRESS_LABELS if name in values},
        }
        for found in _read(_Reports, report).reports
        for values in (found.metrics.model_dump(),)
    ]
    return [make_config(Result, row, path=report) for row in rows]


def _read_index(path: Path) -> Index:
    if not path.is_file():
        raise InputError("no such file; run this in a checkout of the toolkit, or give --index", file=path)
    return _read(Index, path)


def _read(kind: type[Config], path: Path) -> Config:
    return make_config(kind, read_json(path), path=path)


app = typer.Typer(add_completion=False, no_args_is_help=True, help="The registry of results.")
_Index = Annotated[Path, typer.Option(help="The index of the registry.")]


@app.command("add")
def add_command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run (--out).")], index: _Index = INDEX
) -> None:
    """List a finished run in the registry."""
    typer.echo(f"added {add(run, index)} to {index}")


@app.command("check")
def check_command(index: _Index = INDEX) -> None:
    """Check the registry's index and reports."""
    typer.echo(f"{index}: {check(index)} runs, all as their reports say")
