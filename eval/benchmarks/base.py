"""What a benchmark is: labelled samples, how it puts them to a judge, its tables and figures of its own.

A runner needs no more than this::

    samples = benchmark.draw(benchmark.load(data_dir), limit, seed)
    asked = benchmark.judge(judge)                    # the benchmark's own prompt, where it has one
    verdicts = list(asked.iter_check(samples))
    for table, rows in benchmark.tables(samples).items():
        for row, positions in rows.items(): ...       # score these samples by themselves
    figures = benchmark.figures(samples, verdicts)    # more tables, of the benchmark's own measures
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.replay import Replay
from eval.sampling import take
from judge.cascade import CascadeJudge
from judge.checker import Checker
from judge.claims import ClaimsJudge
from judge.errors import InputError, warn
from judge.formats.files import resolve_data_dir
from judge.judge import Judge
from judge.prompting.prompts import BuiltinPrompt
from judge.types import Sample, Verdict

Figures = dict[str, dict[str, dict[str, float | int | None]]]
"""Table to row to column to a figure: a share from 0 to 1 or a count; ``None`` where it does not exist."""


def by_source(sample: Sample) -> Mapping[str, Sequence[str]]:
    """One table, with a row for each source."""
    return {"source": (sample.source,)}


def accuracy(judged: Sequence[tuple[Sample, Verdict]]) -> float | None:
    """Share of right verdicts; one that could not be parsed is wrong. ``None`` where nothing was judged."""
    if not judged:
        return None
    return sum(verdict.label is sample.label for sample, verdict in judged) / len(judged)


def _uncalibrated(judge: Judge, benchmark: str) -> Judge:
    """A judge without what was fitted to the common prompt; a threshold that somebody chose stays."""
    found = judge.calibration()
    if found is None:
        return judge
    moved = found.curve.shift != 0
    fitted = judge.threshold in [kept.threshold for kept in found.thresholds.values()]
    fitted = fitted or (moved and judge.threshold == found.half)
    if fitted or moved:
        warn(
            f"{benchmark}: {judge.name} is not calibrated for this benchmark's own prompt; --prior and a "
            "threshold that judge calibrate found are left out"
        )
    return replace(judge, calibrations={}, threshold=None if fitted else judge.threshold)


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark.

    Args:
        name: what the command line calls it.
        title: what people call it, and where it is described.
        read: yields its labelled samples, from the folder that holds one folder per data set with the
            original files, or from the Hub if that is ``None``.
        rows: the tables in which a sample is counted, each with the rows it is counted in; a sample may
            stand in several rows of a table, or in none.
        figures: measures of its own, from samples and their verdicts in the same order; none by default.
        ask: how it puts its samples to a language model, where the common prompt would not do.
        draw: what ``--limit`` draws, from samples, limit and seed.
        baselines: baselines besides the common ones.
        query: what to search a corpus for (a setting), empty where a search makes no sense; ``None`` for a
            benchmark whose samples have documents.
        of: the benchmark that this is a part of, whose published figures stand next to it with a warning.
        notes: where this differs from the published protocol, one sentence each.
    """

    name: str
    title: str
    read: Callable[[Path | None], Iterable[Sample]]
    rows: Callable[[Sample], Mapping[str, Sequence[str]]] = by_source
    figures: Callable[[Sequence[Sample], Sequence[Verdict]], Figures] = lambda samples, verdicts: {}
    ask: Callable[[Judge], Checker] | None = None
    draw: Callable[[Sequence[Sample], int | None, int], list[Sample]] = take
    baselines: tuple[Checker, ...] = ()
    query: Callable[[Sample], str] | None = None
    of: str | None = None
    notes: tuple[str, ...] = ()

    def load(self, data_dir: Path | None = None) -> list[Sample]:
        """All labelled samples, in the order of the files.

        Args:
            data_dir: holds one folder per data set with its original files, plain or ``.gz``. Default: the
                environment variable ``JUDGE_DATA_DIR``; without that, the files come from the Hub.

        Raises:
            MissingFiles: the files are not there.
            InputError: a row is wrong (with file and line), or there is none.
        """
        samples = list(self.read(resolve_data_dir(data_dir)))
        if not samples:
            raise InputError(f"{self.name} holds no sample")
        seen: set[str] = set()
        for sample in samples:
            if sample.id in seen:
                raise InputError(f"{self.name}: sample {sample.id!r} occurs a second time")
            seen.add(sample.id)
        return samples

    def judge(self, judge: Checker) -> Checker:
        """The judge as this benchmark asks it; one with a prompt from a template keeps that."""
        if isinstance(judge, Replay):
            return judge.on(self.name)
        if self.ask is None:
            return judge
        if isinstance(judge, CascadeJudge):
            first, second = self.judge(judge.first), self.judge(judge.second)
            kept = getattr(second, "threshold", None) == getattr(judge.second, "threshold", None)
            return replace(judge, first=first, second=second, threshold=judge.threshold if kept else None)
        if isinstance(judge, ClaimsJudge):
            return replace(judge, judge=self.judge(judge.judge), calibration=None)
        if not isinstance(judge, Judge) or not isinstance(judge.prompt, BuiltinPrompt):
            return judge
        return self.ask(_uncalibrated(judge, self.name))

    def tables(self, samples: Sequence[Sample]) -> dict[str, dict[str, list[int]]]:
        """Table to row to the positions of the row's samples, in the order in which rows first occur."""
        found: dict[str, dict[str, list[int]]] = {}
        for position, sample in enumerate(samples):
            for table, names in self.rows(sample).items():
                for name in names:
                    found.setdefault(table, {}).setdefault(name, []).append(position)
        return found
