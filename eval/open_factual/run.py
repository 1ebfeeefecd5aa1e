"""open-factual-bench from end to end: answers, labels, results that can be resumed, and a report."""

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from eval.open_factual.answers import MAX_NEW_TOKENS, Answer, generate_answers, read_answers
from eval.open_factual.judging import is_open, judged_label, to_sample
from eval.open_factual.prompts import PROMPT_VERSION, prompt_hash
from eval.open_factual.report import markdown
from eval.open_factual.results import TABLE, Answered
from eval.open_factual.scoring import SCORING_VERSION, TOLERANCE, score
from eval.open_factual.similarity import Similarity, similar_label
from eval.open_factual.summary import (
    baselines,
    contamination,
    disputed,
    metrics,
    summarize,
    to_row,
)
from eval.open_factual.tasks import (
    BENCHMARK,
    FactualTask,
    add_passages,
    exposure,
    load_tasks,
    select,
    tasks_hash,
)
from eval.report import hardware, this_command, todays_names, versions
from eval.verdicts import REPORT, RUN, VERDICTS, check_out
from judge.backends.base import Backend
from judge.checker import Checker
from judge.errors import InputError
from judge.files import Appender, differences, locked, read_json, sha256_file, write_json, write_text
from judge.models.base import with_weights
from judge.types import verdict_to_json

CHUNK = 8
"""Tasks answered in one batch, always the same ones, since the rest of a batch can tip a near tie."""

Answerer = Callable[[Sequence[FactualTask]], Sequence[Answer]]
Row = Mapping[str, Any]
Settings = dict[str, Any]


def run_open_factual(
    backend: Backend | None,
    data_dir: Path | None,
    out: Path | None = None,
    *,
    answers: Path | None = None,
    documents: Path | None = None,
    judge: Checker | None = None,
    similarity: Similarity | None = None,
    cutoff: str | None = None,
    tolerance: float = TOLERANCE,
    max_new_tokens: int = MAX_NEW_TOKENS,
    only: Collection[str] = (),
    domains: Collection[str] = (),
    machine: str | None = None,
    overwrite: bool = False,
    again: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Measure what a model says when it answers the tasks itself, greedily.

    Args:
        backend: the engine with the model; ``None`` runs offline, on ``answers`` or only on the baselines.
        data_dir: holds ``open-factual-bench/tasks.json``; default: ``JUDGE_DATA_DIR``.
        out: folder for ``verdicts.jsonl``, written as answers are made, ``report.json`` and ``report.md``. An
            interrupted run with the same settings is resumed.
        answers: recorded answers, see :func:`eval.open_factual.answers.read_answers`.
        documents: passages to answer from, see :func:`eval.open_factual.tasks.add_passages`.
        judge: judges claims that the rules do not accept; this gives a separate score.
        similarity: compares wrong claims with the reference; this also gives a separate score.
        cutoff: month in which the model's training data ends, such as ``2024-06``.
        tolerance: see :func:`eval.open_factual.scoring.score`.
        max_new_tokens: limit of an answer.
        only: ids of the tasks to answer; by default all.
        domains: domains (:attr:`~eval.open_factual.tasks.FactualTask.category`) to answer; by default all.
        machine: the user's name for the hardware.
        overwrite: replace a result in ``out``.
        again: return a finished result with the same settings found in ``out``, instead of raising an error.
        progress: called with the number of tasks done and the total.

    Returns:
        The report; ``overall`` is ``None`` if nothing was answered.

    Raises:
        InputError: if the tasks or another file are wrong, or ``out`` holds another result.
    """
    if backend is not None and answers is not None:
        raise InputError("recorded answers are scored offline, without a model; give one of the two")
    if not 0 <= tolerance < 1:
        raise InputError(f"tolerance {tolerance} is not a share of a value; 0.001 is usual")
    every = load_tasks(data_dir)
    if documents is not None:
        every = add_passages(every, documents)
    tasks = select(every, only, domains)
    exposure(tasks[0], cutoff)  # raises an error for a wrong cutoff before anything is answered
    recorded = {} if answers is None else read_answers(answers, every, tasks)
    settings: Settings = {
        "mode": "closed-book" if documents is None else "retrieval",
        "model": None if backend is None else with_weights(backend.describe()),
        "answers": None if answers is None else sha256_file(answers),
        "data_hash": tasks_hash(tasks),
        "judge": None if judge is None else {"name": judge.name, **with_weights(judge.describe())},
        "cutoff": cutoff,
        "tolerance": tolerance,
        "decoding": {"max_new_tokens": max_new_tokens, "temperature": 0.0},
        "prompt_version": PROMPT_VERSION,
        "prompt_hash": prompt_hash(),
        "scoring_version": SCORING_VERSION,
    }
    if similarity is not None:
        settings["similarity"] = similarity.describe()
    if again and not overwrite and out is not None and (done := _finished(out, settings)) is not None:
        return done
    answer: Answerer | None = None
    name = "offline"
    if backend is not None:
        answer = partial(generate_answers, backend, max_new_tokens=max_new_tokens)
        name = str(settings["model"].get("model", "model"))
    elif answers is not None:
        answer, name = (lambda chunk: [recorded[task.id] for task in chunk]), answers.name

    start = time.perf_counter()
    rows: list[Row] = []
    with ExitStack() as stack:
        file = None
        if out is not None:
            stack.enter_context(locked(out, folder=True))
            file = stack.enter_context(_open(out, settings, overwrite))
        if answer is not None:
            label = partial(_label, judge=judge, similarity=similarity, cutoff=cutoff, tolerance=tolerance)
            for row in _rows(tasks, answer, label, file):
                rows.append(row)
                progress(len(rows), len(tasks))
    report = {
        "benchmark": BENCHMARK,
        "name": name,
        **settings,
        "counts": {
            "n": len(tasks),
            "answered": len(rows),
            "truncated": sum(row["truncated"] for row in rows),
            "cut": sum(row["cut_chars"] > 0 for row in rows),
            "unparsed": sum(row["verdict"] is not None and row["verdict"]["label"] is None for row in rows),
        },
        **summarize(rows),
        "metrics": metrics(rows),
        "citations": dict(Counter(row["citation"] for row in rows if row["citation"] is not None)),
        "contamination": contamination(rows),
        "disputed": disputed(rows),
        "baselines": baselines(tasks, tolerance),
        "wall_seconds": round(time.perf_counter() - start, 3),
        "hardware": hardware(machine),
        "versions": versions(),
        "command": this_command(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if out is not None:
        write_text(out / TABLE, markdown([Answered(name, report)]) + "\n")
        write_json(out / REPORT, {"reports": [report]})
    return report


def _finished(out: Path, settings: Settings) -> dict[str, Any] | None:
    """The finished report with these settings in a folder, or ``None``."""
    if not (out / REPORT).exists() or not (out / RUN).exists():
        return None
    if differences(read_json(out / RUN), json.loads(json.dumps(settings))):
        return None
    return todays_names(read_json(out / REPORT)["reports"][0])


def _open(out: Path, settings: Row, overwrite: bool) -> Appender:
    check_out(out, settings, overwrite)
    write_json(out / RUN, settings)
    return Appender(out / VERDICTS)


def _rows(
    tasks: Sequence[FactualTask],
    answer: Answerer,
    label: Callable[[Sequence[FactualTask], Sequence[Answer]], list[dict[str, Any]]],
    file: Appender | None,
) -> Iterator[Row]:
    """The rows of all tasks in order, including those of an interrupted run."""
    made = {} if file is None else {row["id"]: row for row in file.rows}
    for start in range(0, len(tasks), CHUNK):
        chunk = tasks[start : start + CHUNK]
        if any(task.id not in made for task in chunk):
            for row in label(chunk, answer(chunk)):
                if file is not None and row["id"] not in made:
                    file.append(row)
                made.setdefault(row["id"], row)
        yield from (made[task.id] for task in chunk)


def _label(
    tasks: Sequence[FactualTask],
    answers: Sequence[Answer],
    judge: Checker | None,
    similarity: Similarity | None,
    cutoff: str | None,
    tolerance: float,
) -> list[dict[str, Any]]:
    scores = [score(task, answer.text, tolerance) for task, answer in zip(tasks, answers, strict=True)]
    rows = [to_row(*found, cutoff) for found in zip(tasks, answers, scores, strict=True)]
    left = [place for place, found in enumerate(scores) if is_open(found)]
    if similarity is not None:  # the reference of a stress test is not an answer
        wrong = [place for place in left if scores[place].extended == "incorrect"]
        cosines = similarity.of([tasks[place] for place in wrong], [answers[place] for place in wrong])
        near = dict(zip(wrong, cosines, strict=True))
        for place, row in enumerate(rows):
            row["similarity"] = near.get(place)
            row["labels"]["similar"] = similar_label(scores[place], near.get(place), similarity.threshold)
    if judge is not None:
        samples = [to_sample(tasks[place], answers[place]) for place in left]
        verdicts = dict(zip(left, judge.iter_check(samples), strict=True))
        for place, row in enumerate(rows):
            verdict = verdicts.get(place)
            row["verdict"] = None if verdict is None else verdict_to_json(verdict)
            row["labels"]["judged"] = judged_label(scores[place], verdict)
    return rows
