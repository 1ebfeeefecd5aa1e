"""``judge calibrate``: fits a judge's probabilities to labelled samples, and stores the fit next to it."""

import shutil
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.calibration.curve import Calibration, Method, Target, fitted_for
from judge.cli.options import (
    CASCADE,
    COLUMNS,
    ENCODING,
    GOLD_LABELS,
    Settings,
    loads_judge,
    parse_columns,
    parse_gold_labels,
    watch_languages,
)
from judge.cli.settings import setting
from judge.errors import InputError, JudgeWarning, counted, warn
from judge.files import JUDGE_FILE
from judge.models.identity import read_identity
from judge.models.trained_on import count_trained_on
from judge.progress import track
from judge.shipped import JUDGES, model_path
from judge.types import Label

if TYPE_CHECKING:
    from rich.table import Table

    from judge.encoder.calibrated import CalibratedEncoder
    from judge.judge import Judge

TARGET = 0.9


@loads_judge(without=("threshold", "prior", "claims", *CASCADE, "base_url", "call_cache"))
def calibrate_command(
    model: Annotated[
        str, typer.Option(metavar="JUDGE", help="A folder, which keeps the calibration; others need --out.")
    ],
    settings: Settings,
    data: Annotated[Path, typer.Option(help="Labelled samples about documents that the judge has not seen.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for a copy of the judge, calibrated.")
    ] = None,
    columns: COLUMNS = None,
    encoding: ENCODING = None,
    gold_labels: GOLD_LABELS = None,
    method: Annotated[
        Method, setting("platt: slope and shift of the log-odds. temperature: slope. isotonic: steps.")
    ] = "platt",
    target_precision: Annotated[
        float, setting("Precision of FAIL to find a threshold for.", min=0, max=1)
    ] = TARGET,
    target_recall: Annotated[
        float, setting("Recall of FAIL to find a threshold for.", min=0, max=1)
    ] = TARGET,
) -> None:
    """Calibrate p(FAIL) on labelled samples, and find thresholds for a precision and a recall of FAIL.

    They hold where about the same share of answers is hallucinated as in the samples.
    """
    from rich.console import Console

    from judge.calibration.fit import blaming_the_unread, check_enough, fit_calibration
    from judge.columns import find_columns
    from judge.files import sha256_file
    from judge.rows import as_file
    from judge.samples import read_samples

    if out is None and not Path(model).is_dir():
        raise InputError(
            f"{model} is not a local folder, where its calibration would be kept; --out FOLDER calibrates a "
            "copy of a judge that comes with the toolkit"
        )
    if not Path(model_path(model)).is_dir():
        raise InputError(f"no folder {model} to copy; name a judge's folder, or one of {', '.join(JUDGES)}")
    if out is not None and out.exists():
        raise InputError("exists already; give another folder", file=out, field="--out")
    identity = read_identity(model)
    means = parse_gold_labels(gold_labels)
    with as_file(data, encoding) as file:
        named = find_columns(file, parse_columns(columns))
        samples = list(read_samples(file, named, labels=means, gold=True))
        digest = sha256_file(file)
    watch_languages(model, settings).look_through(samples)
    if seen := count_trained_on(model, samples):
        warn(
            f"{data}: {model} was trained on the documents of {seen:,} of these {len(samples):,} samples; "
            "calibrated on what it remembers, it is too sure of itself"
        )
    check_enough([one.label is Label.FAIL for one in samples], [one.unit for one in samples], data)
    judge = _load(model, settings)
    raw, loaded = replace(judge, calibrations={}), judge.describe()
    verdicts = list(track(raw.iter_check(samples), data.name, len(samples)))
    scored = [
        (verdict.p_fail, sample)
        for sample, verdict in zip(samples, verdicts, strict=True)
        if verdict.p_fail is not None
    ]
    p_fail = [p for p, _ in scored]
    fails = [sample.label is Label.FAIL for _, sample in scored]
    groups = [sample.unit for _, sample in scored]
    wanted: dict[Target, float] = {"precision": target_precision, "recall": target_recall}
    with blaming_the_unread(data, [one.error for one in verdicts if one.p_fail is None]):
        calibration, held_out = fit_calibration(
            method, p_fail, fails, groups, wanted, **fitted_for(loaded, digest)
        )
    fitted = {judge.mode: calibration.model_dump(mode="json")}
    identity["calibration"] = {**identity.get("calibration", {}), **fitted}
    kept = _keep(model, identity, out)

    if len(scored) < len(samples):
        typer.echo(f"omitted {counted(len(samples) - len(scored), 'sample')} without a probability")
    Console().print(_table(p_fail, held_out, fails))
    final = [calibration.curve(p) for p in p_fail]
    for line in _summary(calibration, held_out, final, fails, groups, wanted):
        typer.echo(line)
    typer.echo(f"{kept}: holds the calibration for mode {judge.mode}")


def _keep(model: str, identity: dict[str, Any], out: Path | None) -> Path:
    """Write a judge's ``judge.json``, into its own folder or a copy of it; return the file."""
    from judge.files import appearing, write_json

    if out is None:
        write_json(Path(model) / JUDGE_FILE, identity)
        return Path(model) / JUDGE_FILE
    with appearing(out) as copy:
        shutil.copytree(model_path(model), copy, dirs_exist_ok=True)
        write_json(copy / JUDGE_FILE, identity)
    return out / JUDGE_FILE


def _load(model: str, settings: Settings) -> "Judge | CalibratedEncoder":
    """Load the judge, without warnings about a calibration that does not apply, since it gets replaced."""
    from judge.encoder.calibrated import CalibratedEncoder
    from judge.judge import Judge
    from judge.load import load_judge

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is set aside", category=JudgeWarning)
        judge = load_judge(model, **settings)
    if not isinstance(judge, Judge | CalibratedEncoder):
        raise InputError(f"{model} is not a model with probabilities of its own")
    return judge


def _table(before: Sequence[float], after: Sequence[float], fails: Sequence[bool]) -> "Table":
    """Reliability before and after, bin by bin: the mean probability next to the share of FAIL."""
    from rich.table import Table

    from judge.calibration.reliability import bins

    table = Table(title="Reliability")
    for column in ("p(FAIL)", "before: n", "p(FAIL)", "FAIL", "after: n", "p(FAIL)", "FAIL"):
        table.add_column(column, justify="right")
    for pair in zip(bins(before, fails), bins(after, fails), strict=True):
        cells = [
            cell
            for part in pair
            for cell in (
                str(part.n),
                "" if part.p_fail is None else f"{part.p_fail:.3f}",
                "" if part.share_fail is None else f"{part.share_fail:.3f}",
            )
        ]
        table.add_row(f"{pair[0].low:.1f} to {pair[0].high:.1f}", *cells)
    return table


def _summary(
    calibration: Calibration,
    held_out: Sequence[float],
    final: Sequence[float],
    fails: Sequence[bool],
    groups: Sequence[str],
    wanted: dict[Target, float],
) -> list[str]:
    """A calibration's results in sentences; ``final`` are the probabilities by its curve."""
    from judge.calibration.reliability import chance_error, share_interval

    def interval(hits: Sequence[bool], among: Sequence[bool]) -> str:
        """The interval of the share of hits in a subset of the samples."""
        rows = [row for row, counts in enumerate(among) if counts]
        low, high = share_interval([hits[row] for row in rows], [groups[row] for row in rows])
        return f"({low:.3f} to {high:.3f})"

    lines = [
        f"{calibration.curve.method} on {calibration.samples} samples ({calibration.fail} FAIL) about "
        f"{calibration.groups} documents",
        f"expected calibration error without it {calibration.ece_before:.4f}, "
        f"with it {calibration.ece_after:.4f} (out of fold by document; chance alone would give a perfect "
        f"judge {chance_error(held_out) or 0:.4f} here)",
    ]
    if calibration.ece_after >= calibration.ece_before:
        lines.append("the error did not fall: these samples are too few, or the judge needs no calibration")
    for target, rate in wanted.items():
        found = calibration.thresholds.get(target)
        if found is None:
            lines.append(f"no threshold gives {target} {rate:g} of FAIL on these samples")
        else:
            flagged = [p >= found.threshold for p in final]
            lines.append(
                f"--threshold {target}: FAIL at or above p(FAIL) = {found.threshold:.3f}; precision "
                f"{found.precision:.3f} {interval(fails, flagged)}, recall {found.recall:.3f} "
                f"{interval(flagged, fails)}"
            )
    lines.append("in brackets: 95 % intervals (Wilson; answers about one document count as one)")
    return lines
