"""Running a judge over samples: what identifies a run, and how an interrupted one is resumed."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from eval import processes
from eval.benchmarks.base import Benchmark
from eval.verdicts import VerdictFile, data_hash
from judge.checker import Checker
from judge.errors import JudgeError, counted
from judge.files import sha256_text
from judge.models.base import with_weights
from judge.types import Sample, Verdict

Progress = Callable[[int, int], None]
"""Called with the number of samples done and the total."""


def describe_run(
    judges: Sequence[Checker], sets: Sequence[tuple[Benchmark, Sequence[Sample]]], **settings: Any
) -> dict[str, Any]:
    """Everything that verdicts depend on, as JSON values; only a run with the same values can be resumed."""
    return {
        "name": judges[0].name,
        "runs": len(judges),
        **settings,
        "benchmarks": {
            benchmark.name: {
                "judge": with_weights(benchmark.judge(judges[0]).describe()),
                "samples": len(samples),
                "data": data_hash(samples),
                "kinds": sha256_text(
                    json.dumps([[item.task, item.language, item.source] for item in samples])
                ),
            }
            for benchmark, samples in sets
        },
    }


def run_judge(
    judge: Checker,
    benchmark: str,
    run: int,
    samples: Sequence[Sample],
    file: VerdictFile | None,
    progress: Progress,
) -> tuple[list[Verdict], int]:
    """Judge samples, writing each verdict as it is made.

    Args:
        judge: as adapted by :meth:`~eval.benchmarks.base.Benchmark.judge`.
        benchmark: name of the benchmark.
        run: number of the repetition, from 0.
        samples: in the same order as in an interrupted call.
        file: stores the verdicts, and returns those of an interrupted call.
        progress: called with the number of samples judged so far and the total.

    Returns:
        The verdicts in order, and how many of them came from an earlier call.

    Raises:
        JudgeError: if the judge gave more or fewer verdicts than there are samples.
    """
    verdicts = processes.from_first([] if file is None else file.made(benchmark, run, samples))
    resumed = len(verdicts)
    progress(resumed, len(samples))
    start = judge.restart(resumed)
    made: Iterator[Verdict] = iter(())
    if resumed < len(samples):
        made = islice(processes.iter_check(judge, samples[start:]), resumed - start, None)
    for verdict in made:
        if len(verdicts) == len(samples):
            raise JudgeError(f"{judge.name} gave more than {len(samples)} verdicts for as many samples")
        if file is not None:
            file.append(benchmark, run, samples[len(verdicts)], verdict)
        verdicts.append(verdict)
        progress(len(verdicts), len(samples))
    if len(verdicts) < len(samples):
        raise JudgeError(
            f"{judge.name} gave {counted(len(verdicts), 'verdict')} for {counted(len(samples), 'sample')}"
        )
    return verdicts, resumed
