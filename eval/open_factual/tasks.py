"""The tasks of open-factual-bench, passages given by the user, and what is known about the tasks' age."""

import json
import re
from collections.abc import Collection, Container, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from judge.errors import InputError, unknown
from judge.files import sha256_text
from judge.formats.files import find_file, need_folder, resolve_data_dir
from judge.formats.records import Record, read_lines, read_records

BENCHMARK = "open_factual_bench"
FOLDER = "open-factual-bench"
ORIGINAL = "github.com/KanishqGandharv219/open-factual-bench (its task list, as JSON)"


class Kind(StrEnum):
    """The kind of a task. The question of a stress test rests on something false; refusing is right."""

    FACTUAL_QA = "factual_qa"
    RETRIEVAL = "retrieval_candidate"
    STRESS = "hallucination_stress"


_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
_TOPIC = re.compile(r"(?:^|_)(20\d\d)(?:_(0[1-9]|1[0-2]))?(?=_|$)")


@dataclass(frozen=True, slots=True)
class FactualTask:
    """One question with its reference answer.

    ``category`` is one of the benchmark's eight categories. ``passages`` are shown with the question.
    ``source`` and ``created_at`` (a month, ``2026-02``) say where the question comes from and how old it is.
    """

    id: str
    category: str
    kind: Kind
    question: str
    reference: str
    passages: tuple[str, ...]
    source: str
    created_at: str


def load_tasks(data_dir: Path | None) -> list[FactualTask]:
    """All tasks of ``data_dir/open-factual-bench/tasks.json``, plain or ``.gz``.

    Raises:
        InputError: if no folder is given, the file is missing or not JSON, or a task is wrong.
    """
    folder = need_folder(resolve_data_dir(data_dir), BENCHMARK, FOLDER, ORIGINAL)
    path = find_file(folder, FOLDER, ["tasks.json"], ORIGINAL)
    tasks: dict[str, FactualTask] = {}
    for _, row in read_records(path):
        task = _task(row)
        if task.id in tasks:
            raise row.wrong("id", f"{task.id!r} occurs twice")
        tasks[task.id] = task
    if not tasks:
        raise InputError("holds no task", file=path)
    return list(tasks.values())


def _task(row: Record) -> FactualTask:
    meta = row.record("metadata")
    kind = meta.text("type")
    if kind not in list(Kind):
        raise meta.wrong("type", unknown("type of task", kind, list(Kind)))
    category = meta.text("sub_domain") if "sub_domain" in meta.values else row.text("domain")
    return FactualTask(
        id=row.text("id"),
        category="hallucination" if kind == Kind.STRESS else category,
        kind=Kind(kind),
        question=row.text("question"),
        reference=row.text("reference_answer"),
        passages=(row.text("context"),) if "context" in row.values else (),
        source=row.text("source"),
        created_at=_month(row, "created_at"),
    )


def _month(row: Record, field: str) -> str:
    value = row.text(field)
    if not _MONTH.fullmatch(value):
        raise row.wrong(field, f"holds {value!r:.60}, expected a month such as 2026-02")
    return value


def select(
    tasks: Sequence[FactualTask], names: Collection[str] = (), domains: Collection[str] = ()
) -> list[FactualTask]:
    """The tasks with these ids and of these domains; an empty filter selects all tasks.

    Raises:
        InputError: if a name is unknown, or no task is left.
    """
    for what, given, known in (
        ("task", names, [task.id for task in tasks]),
        ("domain", domains, list(dict.fromkeys(task.category for task in tasks))),
    ):
        for name in given:
            if name not in known:
                raise InputError(unknown(what, name, known))
    found = [
        task
        for task in tasks
        if (not names or task.id in names) and (not domains or task.category in domains)
    ]
    if not found:
        raise InputError("no task has one of these ids and one of these domains")
    return found


def add_passages(tasks: Sequence[FactualTask], path: Path) -> list[FactualTask]:
    """The tasks with their passages replaced by those of a user's file, for retrieval mode.

    Args:
        tasks: the tasks.
        path: JSON Lines of ``{"id": task, "passages": [text, ...]}``. Tasks that are not in the file stay
            unchanged.

    Raises:
        InputError: if a row is wrong, or names an unknown task or one twice.
    """
    found = {task.id: task for task in tasks}
    named: set[str] = set()
    for row in read_lines(path):
        name = known_id(row, found, named)
        named.add(name)
        found[name] = replace(found[name], passages=tuple(row.texts("passages")))
    if not named:
        raise InputError("holds no passages", file=path)
    return list(found.values())


def known_id(row: Record, known: Collection[str], seen: Container[str]) -> str:
    """The id of the task in a row of a user's file; it must exist, and occur only once."""
    name = row.text("id")
    if name not in known:
        raise row.wrong("id", unknown("task", name, known))
    if name in seen:
        raise row.wrong("id", f"{name!r} occurs twice")
    return name


def exposure(task: FactualTask, cutoff: str | None) -> dict[str, str | bool | None]:
    """Whether a model whose training data ends with the month ``cutoff`` can have seen a task.

    Returns:
        ``topic_date``, the year or month of the event that the task is about, as its source names it;
        ``after_cutoff``, whether the event is later than the training data, so that a right answer cannot
        have been learned from it; ``may_be_leaked``, whether the question was public before the training
        data ended. The latter two are ``None`` if the cutoff is unknown.

    Raises:
        InputError: if ``cutoff`` is not a month.
    """
    if cutoff is not None and not _MONTH.fullmatch(cutoff):
        raise InputError(f"cutoff {cutoff!r} is not a month; write it as 2024-06")
    named = _TOPIC.search(task.source)
    topic = None if named is None else "-".join(part for part in named.groups() if part)
    if cutoff is None:
        return {"topic_date": topic, "after_cutoff": None, "may_be_leaked": None}
    # A year without a month counts as after the cutoff only if all of it is.
    after = topic is not None and topic > cutoff[: len(topic)]
    return {"topic_date": topic, "after_cutoff": after, "may_be_leaked": task.created_at <= cutoff}


def tasks_hash(tasks: Sequence[FactualTask]) -> str:
    """Hex digest of the tasks, their passages and their order."""
    return sha256_text(json.dumps([asdict(task) for task in tasks], sort_keys=True))
