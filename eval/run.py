"""From a judge and the samples of a benchmark to a report."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from eval.benchmarks.base import Benchmark, Figures
from eval.calibration import calibration
from eval.judging import Progress, run_judge
from eval.metrics import Metrics, check_labelled, score
from eval.published import to_compare
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


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Measures any verdicts on the samples of one benchmark in the same way."""

    benchmark: Benchmark
    samples: Sequence[Sample]
    bootstrap: int
    seed: int

    def measured(self, verdicts: Sequence[Verdict], intervals: bool) -> Measured:
        """``intervals``: of the parts too, which takes most of the time."""
        tables = self if intervals else replace(self, bootstrap=0)
        return Measured(self.metrics(verdicts), tables.tables(verdicts), self.figures(verdicts))

    def metrics(self, verdicts: Sequence[Verdict]) -> Metrics:
        return score(self.samples, verdicts, bootstrap=self.bootstrap, seed=self.seed)

    def tables(self, verdicts: Sequence[Verdict]) -> dict[str, dict[str, Metrics]]:
        return {
            table: {
                row or "(none)": score(
                    [self.samples[position] for position in positions],
                    [verdicts[position] for position in positions],
                    bootstrap=self.bootstrap,
                    seed=self.seed,
                )
                for row, positions in rows.items()
            }
            for table, rows in self.benchmark.tables(self.samples).items()
        }

    def figures(self, verdicts: Sequence[Verdict]) -> Figures:
        return {**self.benchmark.figures(self.samples, verdicts), **quote_figures(self.samples, verdicts)}


def _latency(judge: Checker, samples: Sequence[Sample], seed: int, count: int) -> Latency | None:
    """Seconds for one sample by itself, over a few that are drawn; nothing else runs meanwhile."""
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
    """The verdicts of each baseline, and why others could not be fitted."""
    verdicts: dict[str, list[Verdict]] = {}
    left_out: dict[str, str] = {}
    for baseline in track(baselines, "baselines", len(baselines)):
        try:
            verdicts[baseline.name] = list(baseline.iter_check(samples))
        except InputError as error:
            left_out[baseline.name] = str(error)
    return verdicts, left_out


def _trained_on(judge: Checker, name: str, samples: Sequence[Sample]) -> tuple[str, ...]:
    """What to say of samples about documents that a judge was trained on, said as a warning too."""
    count = count_trained_on(str(judge.describe().get("model", "")), samples)
    if not count:
        return ()
    told = (
        f"{name}: {judge.name} was trained on the documents of {count:,} of these {len(samples):,} samples; "
        "they show what it remembers"
    )
    warn(told)
    return (told,)


def _ahead(progress: Progress, before: int, total: int) -> Progress:
    """Progress of one run of several."""
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
    command: str | None = None,
    machine: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Judge samples, measure the verdicts, and measure the baselines on the same samples.

    Args:
        judges: what is measured, once for each run; repeated runs differ in their seeds. Mean and spread of
            all runs are in :attr:`~eval.report.Report.repeats`, and it is the mean that stands next to
            published figures; all else, intervals among it, is of the first.
        benchmark: where the samples come from.
        samples: labelled, already drawn.
        baselines: baselines for comparison; one that cannot be fitted on these samples is named as such.
        file: takes verdicts as they are made, and gives back those of an interrupted run. ``report.json`` is
            the caller's (:func:`eval.report.write_reports`), for one folder may hold several benchmarks.
        bootstrap: resamples for the intervals, 0 for none.
        seed: of the draw and of the resamples.
        limit: the limit of the draw; only written down.
        latency: judge this many samples once more, one at a time, and take the seconds.
        command: the command line; default: that of this process.
        machine: what the user calls the hardware.
        progress: is told how far the judging is.

    Raises:
        InputError: a sample has no gold label, or there is none.
        JudgeError: the judge failed.
    """
    labels = check_labelled(samples)
    scorer = _Scorer(benchmark, samples, bootstrap, seed)
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
    # Intervals of all tables take longer than a quick judge does.
    numbered = track(enumerate(runs), "intervals of the judge", len(runs))
    measured = [scorer.measured(verdicts, intervals=number == 0) for number, verdicts in numbered]
    of_baselines = {
        name: scorer.measured(found, intervals=True)
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
        command=this_command() if command is None else command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
