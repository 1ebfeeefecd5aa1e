"""Runs of open-factual-bench side by side, as tables that Markdown and HTML both show."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from eval.open_factual.results import Answered, agreement, by_difficulty, comparable
from eval.open_factual.summary import REPLIES, SCORES
from eval.open_factual.tasks import BENCHMARK
from eval.pages.cells import Cell, Row, Share, Table, percent
from eval.published import published

TITLE = "open-factual-bench: models that answer themselves"
_STRESS = {
    "hallucinated": "hallucination_candidate",
    "refused": "refusal_or_correction",
    "unclear": "unclear",
}
_NOTE = (
    "Accuracy is over graded tasks, by the benchmark's own score; extended compares words and values; "
    "similar adds what an encoder finds near the reference, judged what a judge accepts. "
    "Hallucinated, refused and unclear count answers to stress tests, whose questions assume something false."
)


def answer_tables(runs: Sequence[Answered]) -> list[Table]:
    """Leaderboard with published rows, what became of the answers, by domain, by age, and runs together."""
    found = [_leaderboard(runs), _outcomes(runs), _by_domain(runs), *_by_age(runs)]
    for group in comparable(runs):
        found += [_by_difficulty(group), _agreement(group)]
    return [table for table in found if table.rows]


def _leaderboard(runs: Sequence[Answered]) -> Table:
    rows = []
    for run in sorted(runs, key=lambda run: run.report["overall"]["strict"]["accuracy"] or 0, reverse=True):
        counts, memory = run.report["overall"], run.report["hardware"].get("gpu_memory_gib")
        shares = [
            Share(counts[score]["accuracy"], counts[score]["accuracy_ci"]) if score in counts else None
            for score in SCORES
        ]
        stress: list[Cell] = [counts["strict"][name] for name in _STRESS.values()]
        rows.append(
            Row(
                (
                    run.name, run.hardware, "-" if memory is None else f"{memory:g} GiB",
                    run.report["date"][:10], run.report["counts"]["n"], *shares, *stress,
                )
            )
        )  # fmt: skip
    notes, warnings = [_NOTE], []
    for table in published(BENCHMARK):
        notes += [table.source, *table.notes]
        for name in table.judges:
            figures = {metric: value for (_, metric), value in table.printed(name).items()}
            rows.append(
                Row(
                    (
                        name, table.split or "", "-", "", table.samples, figures["accuracy"],
                        *[None] * len(SCORES[1:]), *(figures[label] for label in _STRESS),
                    ),
                    "published",
                )
            )  # fmt: skip
        warnings.append("The published runs had another prompt, and float16.")
    floors = runs[0].report["floors"]
    rows += [
        Row(
            (
                name, "", "-", "", runs[0].report["counts"]["n"], found["strict"]["accuracy"],
                found["extended"]["accuracy"], None, None,
                *(found["strict"][label] for label in _STRESS.values()),
            ),
            "floor",
        )
        for name, found in floors.items()
    ]  # fmt: skip
    head = ("model", "hardware", "GPU memory", "date", "tasks", "accuracy", *SCORES[1:], *_STRESS)
    return Table("Leaderboard of models that answer", head, rows, notes, warnings, labels=4)


def _outcomes(runs: Sequence[Answered]) -> Table:
    """Under the widest score of a run: right, wrong, a guess that says so, refused, empty."""
    rows = []
    for run in runs:
        score = run.scores[-1]
        counts = run.report["overall"][score]
        rows.append(Row((run.name, score, *(counts[name] for name in ("correct", *REPLIES.values())))))
    head = ("model", "score", "correct", *REPLIES.values())
    return Table("Outcomes of graded tasks", head, rows, labels=2)


def _by_domain(runs: Sequence[Answered]) -> Table:
    """Accuracy by the benchmark's own score; of stress tests, the share refused or corrected."""
    domains = list(dict.fromkeys(name for run in runs for name in run.report["by_category"]))

    def cell(run: Answered, domain: str) -> Cell:
        counts = run.report["by_category"].get(domain, {}).get("strict")
        if counts is None:
            return None
        if counts["stress"] and not counts["graded"]:
            return Share(counts["refusal_or_correction"] / counts["stress"], None)
        return Share(counts["accuracy"], None)

    rows = [Row((run.name, *(cell(run, domain) for domain in domains))) for run in runs]
    note = "Domain hallucination: the share of stress tests that are refused or corrected."
    return Table("By domain: accuracy", ("model", *domains), rows, notes=(note,))


def _by_age(runs: Sequence[Answered]) -> Iterator[Table]:
    """Contamination: what a model whose cutoff is known can have seen; events after it were not learned."""
    known = [run for run in runs if run.report["cutoff"] is not None]
    parts = list(dict.fromkeys(part for run in known for part in run.report["contamination"]))
    rows = []
    for run in known:
        found = run.report["contamination"]
        cells = [
            f"{percent(found[part]['accuracy'])} ({found[part]['graded']})" if part in found else None
            for part in parts
        ]
        rows.append(Row((run.name, run.report["cutoff"], *cells)))
    note = (
        "Extended score, graded tasks in parentheses. Events are dated by their source, questions by when "
        "they were written; a question that is public before the cutoff may have been seen with its answer."
    )
    yield Table("Contamination by cutoff", ("model", "cutoff", *parts), rows, notes=(note,), labels=2)


def _by_difficulty(group: Sequence[Answered]) -> Table:
    rows = []
    for run in group:
        found = by_difficulty(run, [other for other in group if other is not run])
        cells = [f"{percent(hits / n)} ({n})" if n else None for hits, n in found.values()]
        rows.append(Row((run.name, *cells)))
    note = (
        "Accuracy, tasks in parentheses. Easy: all other runs are right; mixed: some; hard: none. A run does "
        "not count for its own difficulty."
    )
    return Table("By difficulty", ("model", "easy", "mixed", "hard"), rows, notes=(note,))


def _agreement(group: Sequence[Answered]) -> Table:
    def row(first: str, second: str, runs: Sequence[Answered]) -> Row:
        same, kappa = agreement(runs)
        return Row((first, second, Share(same, None), "-" if kappa is None else f"{kappa:.2f}"))

    rows = [row(one.name, two.name, (one, two)) for one, two in combinations(group, 2)]
    if len(group) > 2:
        rows.append(row(f"all {len(group)} runs", "", group))
    note = "Labels of the benchmark's own score; kappa is Cohen's."
    head = ("first", "second", "labelled alike", "kappa")
    return Table("Agreement between runs", head, rows, notes=(note,), labels=2)
