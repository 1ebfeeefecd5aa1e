"""The leaderboard: each judge, and by how much it beats the best baseline on the same samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.metrics import Metrics
from eval.pages.runs import Run, SampleSet

SIZES = ((1e9, "under 1B"), (4e9, "1B to 4B"), (10e9, "4B to 10B"), (float("inf"), "10B and more"))
UNKNOWN = "unknown size"


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the leaderboard: a judge, or a baseline (then ``run`` is ``None``).

    ``run`` numbers the runs across all sets. ``lift`` is the :func:`main_figure` minus that of the baseline
    ``best_baseline``; ``None`` if either is missing.
    """

    run: int | None
    name: str
    set: str
    mode: str
    size: str
    size_class: str
    metrics: Metrics
    parameters: int | None = None
    samples_per_second: float | None = None
    best_baseline: str | None = None
    baseline_figure: float | None = None
    lift: float | None = None


def main_figure(metrics: Metrics) -> float | None:
    """The figure that judges are ranked by: balanced accuracy, or accuracy if a set has only one class."""
    return metrics.accuracy if metrics.balanced_accuracy is None else metrics.balanced_accuracy


def best_baseline(baselines: Mapping[str, Metrics]) -> tuple[str, float] | None:
    """The baseline with the highest main figure."""
    found = [(name, figure) for name, row in baselines.items() if (figure := main_figure(row)) is not None]
    return max(found, key=lambda pair: pair[1], default=None)


def standings(sets: Sequence[SampleSet]) -> list[Standing]:
    """Judges and baselines of all sets: set by set, judges before baselines, each best first."""
    lines: list[Standing] = []
    first = 0
    for group in sets:
        judges = [_judge(run, first + place, group) for place, run in enumerate(group.runs)]
        first += len(group.runs)
        baselines = [
            Standing(None, name, group.name, "", "", "", metrics)
            for name, metrics in group.report.baselines.items()
        ]
        for part in (judges, baselines):
            lines += sorted(part, key=lambda line: main_figure(line.metrics) or 0.0, reverse=True)
    return lines


def unbeaten(lines: Sequence[Standing]) -> list[Standing]:
    """The judges that do not beat the best baseline on their samples."""
    return [line for line in lines if line.lift is not None and line.lift <= 0]


def _judge(run: Run, number: int, group: SampleSet) -> Standing:
    report = run.report
    metrics = report.mean_metrics()
    figure, baseline = main_figure(metrics), best_baseline(report.baselines)
    size, size_class = _size(report.judge.get("parameters"))
    return Standing(
        run=number,
        name=run.name,
        set=group.name,
        mode=report.mode,
        size=size,
        size_class=size_class,
        metrics=metrics,
        parameters=report.judge.get("parameters"),
        samples_per_second=report.samples_per_second,
        best_baseline=baseline[0] if baseline else None,
        baseline_figure=baseline[1] if baseline else None,
        lift=figure - baseline[1] if baseline and figure is not None else None,
    )


def _size(parameters: object) -> tuple[str, str]:
    """The number of parameters in readable form, and the size class to filter by."""
    if not isinstance(parameters, int | float) or parameters <= 0:
        return "", UNKNOWN
    name = next(name for below, name in SIZES if parameters < below)
    return (f"{parameters / 1e6:.0f}M" if parameters < 1e9 else f"{parameters / 1e9:.3g}B"), name
