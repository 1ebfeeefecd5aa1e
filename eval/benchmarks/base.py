"""What a benchmark is: labelled samples, how a judge is asked about them, its tables and its own measures.

A runner needs only this::

    samples = benchmark.draw(benchmark.load(data_dir), limit, seed)
    asked = benchmark.judge(judge)                    # the benchmark's own prompt, if it has one
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
from judge.claims.checker import ClaimsJudge
from judge.errors import InputError, warn
from judge.formats.files import resolve_data_dir
from judge.judge import Judge
from judge.prompting.prompts import BuiltinPrompt
from judge.types import Sample, Verdict

Figures = dict[str, dict[str, dict[str, float | int | None]]]
"""Table to row to column to figure: a share from 0 to 1 or a count; ``None`` if it is undefined."""


def by_source(sample: Sample) -> Mapping[str, Sequence[str]]:
    """One table, with a row for each source."""
    return {"source": (sample.source,)}


def accuracy(judged: Sequence[tuple[Sample, Verdict]]) -> float | None:
    """Share of correct verdicts; unparsed ones count as wrong. ``None`` if nothing was judged."""
    if not judged:
        return None
    return sum(verdict.label is sample.label for sample, verdict in judged) / len(judged)


def _uncalibrated(judge: Judge, benchmark: str) -> Judge:
    """The judge without calibrations, which were fitted to the common prompt; a user's threshold stays."""
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
        name: its name on the command line.
        title: its usual name, and where it is described.
        read: yields its labelled samples, from the folder that holds one folder per data set with the
            original files, or from the Hub if that is ``None``.
        rows: for each table, the rows in which a sample is counted; a sample may count in several rows of a
            table, or in none.
        figures: its own measures, from samples and their verdicts in the same order; none by default.
        ask: adapts a language-model judge where the common prompt does not fit, for example with another one.
        draw: draws the samples for ``--limit``, from samples, limit and seed.
        baselines: baselines besides the common ones.
        query: the search query for a sample (with ``--set corpus``), empty if a search makes no sense;
            ``None`` for a benchmark whose samples have documents.
        of: the benchmark that this is a part or variant of; its published figures are shown with a warning.
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
            MissingFiles: if the files are not there.
            InputError: if a row is wrong (with file and line), an id occurs twice, or there are no samples.
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
        """The judge adapted to this benchmark, usually with its prompt; a prompt from a template is kept."""
        if isinstance(judge, Replay):
            return judge.on(self.name)
        if self.ask is None:
            return judge
        if isinstance(judge, CascadeJudge):
            first, second = self.judge(judge.first), self.judge(judge.second)
            kept = getattr(second, "threshold", None) == getattr(judge.second, "threshold", None)
            return replace(judge, first=first, second=second, threshold=judge.threshold if kept else None)
        if isinstance(judge, ClaimsJudge):
            return ClaimsJudge(self.judge(judge.judge))
        if not isinstance(judge, Judge) or not isinstance(judge.prompt, BuiltinPrompt):
            return judge
        return self.ask(_uncalibrated(judge, self.name))

    def tables(self, samples: Sequence[Sample]) -> dict[str, dict[str, list[int]]]:
        """Table to row to the positions of the row's samples; rows in order of first occurrence."""
        found: dict[str, dict[str, list[int]]] = {}
        for position, sample in enumerate(samples):
            for table, names in self.rows(sample).items():
                for name in names:
                    found.setdefault(table, {}).setdefault(name, []).append(position)
        return found
