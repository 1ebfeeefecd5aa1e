"""Runs a judge on the samples of a benchmark and reports the results."""

import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from eval.benchmarks.base import Benchmark
from eval.calibration import calibration
from eval.judging import Progress, run_judge
from eval.metrics import check_labelled, score
from eval.published.comparing import to_compare
from eval.quotes import quote_figures
from eval.repeats import Measured, repeats
from eval.report import Latency, Report, hardware, this_command, versions
from eval.sampling import take
from eval.verdicts import VerdictFile, data_hash
from judge.checker import Checker
from judge.errors import InputError, warn
from judge.models.base import with_weights
from judge.models.trained_on import count_trained_on
from judge.progress import track
from judge.types import Sample, Verdict


def _measured(
    benchmark: Benchmark,
    samples: Sequence[Sample],
    bootstrap: int,
    seed: int,
    verdicts: Sequence[Verdict],
    intervals: bool = True,
) -> Measured:
    """All figures of verdicts. The ``intervals`` of the tables take most of the time, and may be left out."""
    tables = {
        table: {
            row or "(none)": score(
                [samples[position] for position in positions],
                [verdicts[position] for position in positions],
                bootstrap=bootstrap if intervals else 0,
                seed=seed,
            )
            for row, positions in rows.items()
        }
        for table, rows in benchmark.tables(samples).items()
    }
    figures = {**benchmark.figures(samples, verdicts), **quote_figures(samples, verdicts)}
    return Measured(score(samples, verdicts, bootstrap=bootstrap, seed=seed), tables, figures)


def _latency(judge: Checker, samples: Sequence[Sample], seed: int, count: int) -> Latency | None:
    """Seconds per sample, over ``count`` drawn samples that are judged one at a time."""
    if not count:
        return None
    seconds = []
    for sample in take(samples, min(count, len(samples)), seed):
        start = time.perf_counter()
        list(judge.iter_check([sample]))
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    return Latency(
        samples=len(seconds),
        median=round(statistics.median(seconds), 4),
        p95=round(seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))], 4),
    )


def _check_baselines(
    baselines: Sequence[Checker], samples: Sequence[Sample]
) -> tuple[dict[str, list[Verdict]], dict[str, str]]:
    """The verdicts of each baseline, and for baselines that could not be fitted, the reason."""
    verdicts: dict[str, list[Verdict]] = {}
    left_out: dict[str, str] = {}
    for baseline in track(baselines, "baselines", len(baselines)):
        try:
            verdicts[baseline.name] = list(baseline.iter_check(samples))
        except InputError as error:
            left_out[baseline.name] = str(error)
    return verdicts, left_out


def _trained_on(judge: Checker, name: str, samples: Sequence[Sample]) -> tuple[str, ...]:
    """The note (also given as a warning) on samples whose documents the judge was trained on, if any."""
    count = count_trained_on(str(judge.describe().get("model", "")), samples)
    if not count:
        return ()
    message = (
        f"{name}: {judge.name} was trained on the documents of {count:,} of these {len(samples):,} samples; "
        "they show what it remembers"
    )
    warn(message)
    return (message,)


def _ahead(progress: Progress, before: int, total: int) -> Progress:
    """Progress of one of several runs, counted over all of them."""
    return lambda done, _: progress(before + done, total)


def evaluate(
    judges: Sequence[Checker],
    benchmark: Benchmark,
    samples: Sequence[Sample],
    baselines: Sequence[Checker],
    file: VerdictFile | None = None,
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    limit: int | None = None,
    latency: int = 0,
    machine: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Judge samples, measure the verdicts, and measure the baselines on the same samples.

    Args:
        judges: the judge, once per run; repeated runs differ in their seeds. Mean and spread over all runs
            are in :attr:`~eval.report.Report.repeats`, and published figures are compared with the mean.
            Everything else, including the intervals, is taken from the first run.
        benchmark: where the samples come from.
        samples: labelled, already drawn.
        baselines: baselines to compare with; those that cannot be fitted are listed with the reason.
        file: stores verdicts as they are made, and returns those of an interrupted run. The caller writes
            ``report.json`` (:func:`eval.report.write_reports`), since a folder may hold several benchmarks.
        bootstrap: resamples for the intervals, 0 for none.
        seed: of the draw and of the resamples.
        limit: the limit of the draw; only recorded in the report.
        latency: time this many samples once more, one at a time.
        machine: the user's name for the hardware.
        progress: called with the number of samples judged so far and the total.

    Raises:
        InputError: if a sample has no gold label, or there are no samples.
        JudgeError: if the judge failed.
    """
    labels = check_labelled(samples)
    measure = partial(_measured, benchmark, samples, bootstrap, seed)
    asked = [benchmark.judge(judge) for judge in judges]
    seen = _trained_on(asked[0], benchmark.name, samples)
    runs: list[list[Verdict]] = []
    resumed = 0
    total = len(asked) * len(samples)
    start = time.perf_counter()
    for number, judge in enumerate(asked):
        ahead = _ahead(progress, number * len(samples), total)
        verdicts, found = run_judge(judge, benchmark.name, number, samples, file, ahead)
        runs.append(verdicts)
        resumed += found
    seconds = time.perf_counter() - start
    judged = total - resumed

    by_baseline, left_out = _check_baselines((*baselines, *benchmark.baselines), samples)
    # Computing the intervals of all tables can take longer than the judging, hence the progress bar.
    numbered = track(enumerate(runs), "intervals of the judge", len(runs))
    measured = [measure(verdicts, intervals=number == 0) for number, verdicts in numbered]
    of_baselines = {
        name: measure(found)
        for name, found in track(by_baseline.items(), "intervals of the baselines", len(by_baseline))
    }
    verdicts, first = runs[0], measured[0].metrics
    described = with_weights(asked[0].describe())
    return Report(
        benchmark=benchmark.name,
        title=benchmark.title,
        name=judges[0].name,
        mode=asked[0].mode,
        judge=described,
        counts={
            "n": first.n,
            "parsed": first.parsed,
            "unparsed": first.n - first.parsed,
            "truncated": first.truncated,
            "cut": first.cut,
            "resumed": resumed,
        },
        metrics=first,
        tables=measured[0].tables,
        figures=measured[0].figures,
        calibration=calibration(labels, verdicts),
        repeats=repeats(measured, [judge.describe() for judge in asked]),
        latency=_latency(asked[0], samples, seed, latency),
        baselines={name: found.metrics for name, found in of_baselines.items()},
        baseline_tables={name: found.tables for name, found in of_baselines.items()},
        baseline_figures={name: found.figures for name, found in of_baselines.items()},
        baselines_left_out=left_out,
        published=to_compare(benchmark.of or benchmark.name, measured, described, limit),
        notes=(*seen, *benchmark.notes),
        data_hash=data_hash(samples),
        seed=seed,
        limit=limit,
        bootstrap=bootstrap,
        wall_seconds=round(seconds, 3),
        samples_per_second=round(judged / seconds, 3) if judged and seconds > 0 else None,
        hardware=hardware(machine),
        versions=versions(),
        command=this_command(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
