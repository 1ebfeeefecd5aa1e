"""Runs of open-factual-bench, one or several side by side, as tables and as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.open_factual.results import Answered
from eval.open_factual.summary import REPLIES, SCORES
from eval.open_factual.tasks import BENCHMARK
from eval.published.figures import published
from eval.tables import Cell, Row, Share, Table, percent, table_blocks
from judge.markdown import plain

TITLE = "open-factual-bench: models that answer themselves"
_STRESS = {
    "hallucinated": "hallucination_candidate",
    "refused": "refusal_or_correction",
    "unclear": "unclear",
}
"""The published table's names for the labels of answers to stress tests."""
_NOTE = (
    "Accuracy is over graded tasks, by the benchmark's own score; extended compares words and values; "
    "similar adds what an encoder finds near the reference, judged what a judge accepts. "
    "Hallucinated, refused and unclear count answers to stress tests, whose questions assume something false."
)


def markdown(runs: Sequence[Answered], heading: str = "#") -> str:
    """The tables and commands of some runs; a run without answers shows only the baselines."""
    blocks = [f"{heading} {TITLE}"]
    for table in answer_tables(runs):
        blocks += table_blocks(table)
    for run in runs:
        command = str(run.report["command"]).replace("\n", "\n    ")
        blocks += [f"**{plain(run.name)}**", f"    {command}"]
    return "\n\n".join(blocks)


def answer_tables(runs: Sequence[Answered]) -> list[Table]:
    """Leaderboard with published rows, outcomes, by domain and age; for a single run, disputed answers."""
    answered = [run for run in runs if run.scores]
    found = [_leaderboard(runs, answered), _outcomes(answered), _by_domain(answered), *_by_age(answered)]
    if len(runs) == 1:
        found.append(_disputed(runs[0].report))
    return [table for table in found if table.rows]


def _leaderboard(runs: Sequence[Answered], answered: Sequence[Answered]) -> Table:
    rows = []
    for run in sorted(answered, key=lambda run: run.report["metrics"]["accuracy"] or 0, reverse=True):
        counts, memory = run.report["overall"], run.report["hardware"].get("gpu_memory_gib")
        scored = [counts.get(score) for score in SCORES]
        shares = [one and Share(one["accuracy"], one["accuracy_ci"]) for one in scored]
        rows.append(
            Row(
                (
                    run.name, run.hardware, "-" if memory is None else f"{memory:g} GiB",
                    run.report["date"][:10], run.report["counts"]["n"], *shares,
                    *(counts["strict"][name] for name in _STRESS.values()),
                )
            )
        )  # fmt: skip
    notes, warnings = [_NOTE], list[str]()
    for table in published(BENCHMARK):
        notes += [table.source, *table.notes]
        warnings += table.warnings
        if others := sorted({run.report["counts"]["n"] for run in runs} - {table.samples}):
            warnings.append(f"published on {table.samples} tasks, measured on {', '.join(map(str, others))}")
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
    rows += [
        Row(
            (
                name, "", "-", "", runs[0].report["counts"]["n"], found["strict"]["accuracy"],
                found["extended"]["accuracy"], *[None] * len(SCORES[2:]),
                *(found["strict"][label] for label in _STRESS.values()),
            ),
            "baseline",
        )
        for name, found in runs[0].report["baselines"].items()
    ]  # fmt: skip
    head = ("model", "hardware", "GPU memory", "date", "tasks", "accuracy", *SCORES[1:], *_STRESS)
    return Table("Leaderboard of models that answer", head, rows, notes, warnings, labels=4)


def _outcomes(runs: Sequence[Answered]) -> Table:
    """Correct, wrong, uncertain, refused and empty answers, and the labels of answers to stress tests."""
    counted = ("graded", "correct", *REPLIES.values(), "stress", *_STRESS.values())
    rows = [
        Row((run.name, score, *(counts[name] for name in counted)))
        for run in runs
        for score, counts in run.report["overall"].items()
    ]
    head = ("model", "score", "graded", "correct", *REPLIES.values(), "stress tests", *_STRESS)
    return Table("What became of the answers", head, rows, notes=[*map(_counts, runs)], labels=2)


def _counts(run: Answered) -> str:
    counts, judge = run.report["counts"], run.report["judge"]
    found = f"{run.name}: {counts['answered']} of {counts['n']} tasks answered, {counts['truncated']} cut off"
    if judge is not None:
        found += f"; judged by {judge['name']}, {counts['unparsed']} verdicts unparsed"
    if run.report["citations"]:
        named = ", ".join(f"{name} {number}" for name, number in run.report["citations"].items())
        found += f"; citations of passages: {named}"
    return f"{found}."


def _by_domain(runs: Sequence[Answered]) -> Table:
    """Accuracy by each score; for stress tests, the share refused or corrected."""
    domains = list(dict.fromkeys(name for run in runs for name in run.report["by_category"]))

    def cell(run: Answered, domain: str, score: str) -> Cell:
        counts = run.report["by_category"].get(domain, {}).get(score)
        if counts is None:
            return None
        if counts["stress"] and not counts["graded"]:
            return Share(counts["refusal_or_correction"] / counts["stress"])
        return Share(counts["accuracy"])

    rows = [
        Row((run.name, score, *(cell(run, domain, score) for domain in domains)))
        for run in runs
        for score in run.scores
    ]
    note = "Domain hallucination: the share of stress tests that are refused or corrected."
    return Table("By domain: accuracy", ("model", "score", *domains), rows, notes=(note,), labels=2)


def _by_age(runs: Sequence[Answered]) -> Iterator[Table]:
    """Contamination: for models with a known cutoff by what they can have seen; for others by task source."""
    for title, some in (
        ("Contamination by cutoff", [run for run in runs if run.report["cutoff"] is not None]),
        ("By source", [run for run in runs if run.report["cutoff"] is None]),
    ):
        parts = list(dict.fromkeys(part for run in some for part in run.report["contamination"]))
        rows = []
        for run in some:
            found = run.report["contamination"]
            cells = [
                f"{percent(found[part]['accuracy'])} ({found[part]['graded']})" if part in found else None
                for part in parts
            ]
            rows.append(Row((run.name, run.report["cutoff"] or "-", *cells)))
        note = (
            "Extended score, graded tasks in parentheses. Events are dated by their source, questions by "
            "when they were written; one that is public before the cutoff may have been seen with its answer."
        )
        yield Table(title, ("model", "cutoff", *parts), rows, notes=(note,), labels=2)


def _disputed(report: Mapping[str, Any]) -> Table:
    """The answers that are labelled differently by different scores."""
    rows = [
        Row((row["id"], row["answer"][:80], *(label or "-" for label in row["labels"].values())), "")
        for row in report["disputed"]
    ]
    return Table("Disputed answers", ("task", "answer", *(report["overall"] or ())), rows, labels=2)
