"""The registry of results: ``index.json`` and the reports it lists, to which anyone can add runs.

An entry of the index repeats nothing by hand: it is what its report says, and :func:`check` compares them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.verdicts import REPORT, VERDICTS
from judge.errors import InputError
from judge.files import sha256_file, write_json, write_text
from judge.formats.records import read_object

INDEX = Path("results/index.json")
FIGURES = (
    "accuracy", "accuracy_extended", "accuracy_similar", "accuracy_judged", "balanced_accuracy", "f1",
    "auroc", "coverage",
)  # fmt: skip
"""Figures that an entry repeats from its report, where the report has them."""
STRESS = ("refusal_or_correction", "hallucination_candidate", "unclear")
"""Labels of the answers to stress tests of open-factual-bench; refusing or correcting is right there."""

_TEXT = {"type": "string", "minLength": 1}
_HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


def _object(required: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": dict(required), **more}


REPORT_SCHEMA = _object(
    {
        "reports": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {
                    "benchmark": _TEXT,
                    "name": _TEXT,
                    "mode": _TEXT,
                    "counts": _object({"n": {"type": "integer", "minimum": 1}}),
                    "metrics": _object({"accuracy": _SHARE}),
                    "data_hash": _TEXT,
                    "hardware": {"type": "object"},
                    "versions": {"type": "object"},
                    "command": _TEXT,
                    "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}"},
                }
            ),
        }
    }
)
"""What a report must hold to be listed, whatever else it holds."""

INDEX_SCHEMA = _object(
    {
        "version": {"const": 1},
        "description": _TEXT,
        "runs": {
            "type": "array",
            "items": _object(
                {
                    "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,99}$"},
                    "report_sha256": _HASH,
                    "verdicts_sha256": _HASH,
                    "results": {
                        "type": "array",
                        "minItems": 1,
                        "items": _object(
                            {
                                "benchmark": _TEXT,
                                "name": _TEXT,
                                "mode": _TEXT,
                                "n": {"type": "integer", "minimum": 1},
                                "date": _TEXT,
                                "data_hash": _TEXT,
                                "figures": {"type": "object", "additionalProperties": _SHARE},
                                "hardware": {"type": "string"},
                                "stress_tests": {"type": "object", "additionalProperties": _COUNT},
                            },
                            additionalProperties=False,
                        ),
                    },
                },
                additionalProperties=False,
            ),
        },
    },
    additionalProperties=False,
)


def add(run_dir: Path, index: Path = INDEX) -> str:
    """Copy the report of a finished run next to the index and list it there; returns the entry's id.

    Verdicts stay where they are, for they hold text of the benchmarks; their hash is kept, so that they can
    be asked for and recognized.

    Raises:
        InputError: the run is not finished, its report lacks a field, or it is listed already.
    """
    listed = _read(index, INDEX_SCHEMA)
    results = _results(run_dir / REPORT)
    if not (run_dir / VERDICTS).is_file():
        raise InputError(f"holds no {VERDICTS}; the verdicts of a listed run must exist", file=run_dir)
    digest = sha256_file(run_dir / REPORT)
    if digest in [run["report_sha256"] for run in listed["runs"]]:
        raise InputError(f"its {REPORT} is in {index} already", file=run_dir)
    first = results[0]
    slug = re.sub(r"[^a-z0-9]+", "-", f"{first['date'][:10]}-{first['name']}".lower())[:80].strip("-")
    name = f"{slug}-{digest[:8]}"
    entry = {
        "id": name,
        "report_sha256": digest,
        "verdicts_sha256": sha256_file(run_dir / VERDICTS),
        "results": results,
    }
    longer = _valid({**listed, "runs": [*listed["runs"], entry]}, INDEX_SCHEMA, run_dir / REPORT)
    # The bytes as they are: the hash is over them.
    write_text(index.parent / name / REPORT, (run_dir / REPORT).read_bytes().decode())
    write_json(index, longer)
    return name


def folders(index: Path) -> list[Path]:
    """The folders of the runs that an index lists, each with its report.

    Raises:
        InputError: it is no index, or lists no run.
    """
    found = [index.parent / run["id"] for run in _read(index, INDEX_SCHEMA)["runs"]]
    if not found:
        raise InputError("lists no run; add some with `judge results add`", file=index)
    return found


def check(index: Path = INDEX) -> int:
    """Check an index against its schema and against the reports next to it; returns the number of runs.

    Raises:
        InputError: the first thing that is wrong: a field, a report that is missing, was changed or says
            something else than its entry, an id that occurs twice, or a folder that is not listed.
    """
    listed = _read(index, INDEX_SCHEMA)
    names: set[str] = set()
    for number, run in enumerate(listed["runs"]):
        field = f"runs.{number}"
        if run["id"] in names:
            raise InputError(f"{run['id']!r} is listed twice", file=index, field=f"{field}.id")
        names.add(run["id"])
        report = index.parent / run["id"] / REPORT
        results = _results(report)
        if sha256_file(report) != run["report_sha256"]:
            raise InputError("was changed after it was listed; add the run again", file=report)
        if results != run["results"]:
            raise InputError(f"says something else than {report}", file=index, field=f"{field}.results")
    stray = sorted({path.name for path in index.parent.iterdir() if path.is_dir()} - names)
    if stray:
        raise InputError(f"does not list the folder {stray[0]!r} next to it; add runs with add", file=index)
    return len(names)


def _results(report: Path) -> list[dict[str, Any]]:
    """What an entry says of a report: one result a benchmark."""
    return [
        {
            "benchmark": found["benchmark"],
            "name": found["name"],
            "mode": found["mode"],
            "n": found["counts"]["n"],
            "date": found["date"],
            "data_hash": found["data_hash"],
            "figures": {name: found["metrics"][name] for name in FIGURES if name in found["metrics"]},
            "hardware": str(found["hardware"].get("label") or found["hardware"].get("device") or "unknown"),
            "stress_tests": {name: found["metrics"][name] for name in STRESS if name in found["metrics"]},
        }
        for found in _read(report, REPORT_SCHEMA)["reports"]
    ]


def _read(path: Path, schema: Mapping[str, Any]) -> dict[str, Any]:
    return _valid(dict(read_object(path).values), schema, path)


def _valid(values: dict[str, Any], schema: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """The values, if a schema allows them; the error names the field that it does not."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(values))
    if error is not None:
        field = ".".join(str(part) for part in error.absolute_path)
        raise InputError(f"{error.message:.200}", file=file, field=field or None)
    return values


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
