"""Counts over labelled answers: by category, by the age of the task, and for baselines."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from eval.open_factual.answers import Answer
from eval.open_factual.refusals import STRESS_LABELS
from eval.open_factual.scoring import Score, score
from eval.open_factual.tasks import BENCHMARK, FactualTask, exposure
from judge.calibration.reliability import wilson

SCORES = ("strict", "extended", "similar", "judged")
REPLIES = {"claim": "wrong", "uncertain": "uncertain", "refusal": "refused", "empty": "empty"}
"""What an incorrect answer counts as, by its kind of reply."""

BASELINES: Mapping[str, Callable[[FactualTask], str]] = {
    "baseline:refuse": lambda task: "I do not know.",
    "baseline:echo": lambda task: " ".join([task.question, *task.passages]),
    "baseline:count": lambda task: "Yes 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
}
"""Answers without knowledge: a refusal, the prompt repeated, and many answers at once."""


def to_row(task: FactualTask, answer: Answer, found: Score, cutoff: str | None = None) -> dict[str, Any]:
    """One line of ``verdicts.jsonl``: the answer, its label under each score, and the age of the task."""
    return {
        "benchmark": BENCHMARK,
        "id": task.id,
        "category": task.category,
        "answer": answer.text,
        "labels": {"strict": found.strict, "extended": found.extended},
        "reply": found.reply,
        "citation": found.citation,
        "verdict": None,
        "truncated": answer.truncated,
        "completion_tokens": answer.completion_tokens,
        "cut_chars": answer.cut_chars,
        "source": task.source,
        "created_at": task.created_at,
        **exposure(task, cutoff),
    }


def count(rows: Iterable[Mapping[str, Any]], which: str) -> dict[str, Any]:
    """The counts under one score; incorrect answers are wrong, uncertain, refused or empty.

    ``accuracy_ci`` is Wilson's 95 % interval; from ``stress`` on, the counts are of the stress tests.
    """
    labels: Counter[str] = Counter()
    for row in rows:
        label = row["labels"][which]
        if label == "incorrect":
            label = REPLIES[row["reply"]]
        labels[label] += 1
    answers = {name: labels[name] for name in ("correct", *REPLIES.values())}
    stress: dict[str, int] = {name: labels[name] for name in STRESS_LABELS}
    graded = sum(answers.values())
    return {
        "graded": graded,
        **answers,
        "accuracy": labels["correct"] / graded if graded else None,
        "accuracy_ci": wilson(labels["correct"], graded) if graded else None,
        "stress": sum(stress.values()),
        **stress,
    }


def scores_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The scores that rows have; ``similar`` and ``judged`` only if an encoder or a judge was used."""
    return [name for name in SCORES if rows and name in rows[0]["labels"]]


def summarize(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts under each score, ``overall`` and ``by_category``."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        parts.setdefault(row["category"], []).append(row)

    def counts(part: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {name: count(part, name) for name in scores_of(part)}

    return {
        "overall": counts(rows) or None,
        "by_category": {name: counts(part) for name, part in parts.items()},
    }


def metrics(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | int | None]:
    """The figures for lists of results; accuracy and labels are those of the strict score."""
    if not rows:
        return {}
    strict = count(rows, "strict")
    more = {f"accuracy_{name}": count(rows, name)["accuracy"] for name in scores_of(rows)[1:]}
    return {"accuracy": strict["accuracy"], **more} | {name: strict[name] for name in STRESS_LABELS}


def contamination(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts by what a model can have seen if its cutoff is known, otherwise by the source of the tasks."""
    if not rows:
        return {}
    if rows[0]["after_cutoff"] is None:
        parts = {row["source"]: [other for other in rows if other["source"] == row["source"]] for row in rows}
    else:
        parts = {
            "event after the cutoff": [row for row in rows if row["after_cutoff"]],
            "question public before the cutoff": [row for row in rows if row["may_be_leaked"]],
            "question younger than the cutoff": [row for row in rows if not row["may_be_leaked"]],
        }
    return {name: count(part, "extended") for name, part in parts.items()}


def disputed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The answers that are labelled differently by different scores."""
    return [
        {name: row[name] for name in ("id", "answer", "labels")}
        for row in rows
        if len(set(row["labels"].values())) > 1
    ]


def baselines(tasks: Sequence[FactualTask], tolerance: float) -> dict[str, dict[str, Any]]:
    """The counts for answers without knowledge on these tasks."""

    def rows(reply: Callable[[FactualTask], str]) -> list[dict[str, Any]]:
        answers = [Answer(reply(task)) for task in tasks]
        return [
            to_row(task, answer, score(task, answer.text, tolerance))
            for task, answer in zip(tasks, answers, strict=True)
        ]

    return {name: summarize(rows(reply))["overall"] for name, reply in BASELINES.items()}
