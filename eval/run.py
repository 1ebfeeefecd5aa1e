"""From a judge and labelled samples to a report."""

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from eval.metrics import Metrics, score, score_by_source
from eval.report import Report, hardware, versions
from eval.verdicts import VerdictFile, data_hash
from judge.checker import Checker
from judge.errors import InputError, JudgeError
from judge.types import Sample, Verdict

Progress = Callable[[int, int], None]
"""Is told the number of samples done, and of all."""


def _judge(
    judge: Checker, benchmark: str, samples: Sequence[Sample], file: VerdictFile | None, progress: Progress
) -> tuple[list[Verdict], int]:
    """The verdicts in order, and how many of them an earlier run had left."""
    verdicts = [None if file is None else file.find(benchmark, sample) for sample in samples]
    open_rows = [row for row, verdict in enumerate(verdicts) if verdict is None]
    resumed = len(samples) - len(open_rows)
    progress(resumed, len(samples))
    made = 0
    for verdict in judge.iter_check([samples[row] for row in open_rows]):
        if made == len(open_rows):
            raise JudgeError(f"{judge.name} gave more than {made} verdicts for {made} samples")
        row = open_rows[made]
        verdicts[row] = verdict
        if file is not None:
            file.append(benchmark, samples[row], verdict)
        made += 1
        progress(resumed + made, len(samples))
    done = [verdict for verdict in verdicts if verdict is not None]
    if len(done) < len(samples):
        raise JudgeError(f"{judge.name} gave {made} verdicts for {len(open_rows)} samples")
    return done, resumed


def evaluate(
    judge: Checker,
    benchmark: str,
    samples: Sequence[Sample],
    floors: Sequence[Checker],
    out: Path | None = None,
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    limit: int | None = None,
    command: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Judge samples, measure the verdicts, and measure the floors on the same samples.

    Args:
        judge: what is measured.
        benchmark: the name of the samples in the report.
        samples: labelled, already drawn.
        floors: trivial judges for comparison; one that cannot be fitted on these samples is named as such.
        out: folder for ``verdicts.jsonl``, written as verdicts are made. An interrupted run of the same
            judge that is found there is continued. ``report.json`` is the caller's
            (:func:`eval.report.write_reports`), for one folder may hold several benchmarks.
        bootstrap: resamples for the intervals, 0 for none.
        seed: of the draw and of the resamples.
        limit: the limit of the draw; only written down.
        command: the command line; default: that of this process.
        progress: is told how far the judging is.

    Raises:
        InputError: a sample has no gold label, there is none, or ``out`` holds another result.
        JudgeError: the judge failed.
    """
    if not samples:
        raise InputError(f"{benchmark} has no sample to measure on")
    for sample in samples:
        if sample.label is None:
            raise InputError(f"{benchmark}: sample {sample.id!r} has no gold label; measuring needs one each")

    def measure(verdicts: Sequence[Verdict]) -> tuple[Metrics, dict[str, Metrics]]:
        whole = score(samples, verdicts, bootstrap=bootstrap, seed=seed)
        return whole, score_by_source(samples, verdicts, bootstrap=bootstrap, seed=seed)

    floor_figures: dict[str, tuple[Metrics, dict[str, Metrics]]] = {}
    left_out: dict[str, str] = {}
    for floor in floors:
        try:
            floor_figures[floor.name] = measure(list(floor.iter_check(samples)))
        except InputError as error:
            left_out[floor.name] = str(error)

    with ExitStack() as stack:
        file = stack.enter_context(VerdictFile(out, judge)) if out is not None else None
        start = time.perf_counter()
        verdicts, resumed = _judge(judge, benchmark, samples, file, progress)
        seconds = time.perf_counter() - start
    metrics, by_source = measure(verdicts)
    judged = len(samples) - resumed
    return Report(
        benchmark=benchmark,
        name=judge.name,
        mode=judge.mode,
        judge=judge.describe(),
        counts={
            "n": metrics.n,
            "parsed": metrics.parsed,
            "unparsed": metrics.n - metrics.parsed,
            "truncated": metrics.truncated,
            "cut": metrics.cut,
            "resumed": resumed,
        },
        metrics=metrics,
        by_source=by_source,
        floors={name: whole for name, (whole, _) in floor_figures.items()},
        floors_by_source={name: sources for name, (_, sources) in floor_figures.items()},
        floors_left_out=left_out,
        data_hash=data_hash(samples),
        seed=seed,
        limit=limit,
        bootstrap=bootstrap,
        wall_seconds=round(seconds, 3),
        samples_per_second=round(judged / seconds, 3) if judged and seconds > 0 else None,
        hardware=hardware(),
        versions=versions(),
        command=shlex.join(sys.argv) if command is None else command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
