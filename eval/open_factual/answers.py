"""The answers: generated greedily by a model, or read from a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from eval.open_factual.prompts import messages, number_passages
from eval.open_factual.tasks import FactualTask, known_id
from judge.backends.base import Backend, Decoding
from judge.errors import InputError
from judge.formats.records import read_lines
from judge.prompting.fitting import fit

MAX_NEW_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's reply. ``truncated``: it hit the token limit. ``cut_chars``: characters cut from passages."""

    text: str
    truncated: bool = False
    completion_tokens: int | None = None
    cut_chars: int = 0


def generate_answers(
    backend: Backend, tasks: Sequence[FactualTask], max_new_tokens: int = MAX_NEW_TOKENS
) -> list[Answer]:
    """A model's greedy answers, one per task, in order; passages that do not fit are cut at the end."""
    limit = backend.context_length - max_new_tokens
    fitted = [
        fit(
            number_passages(task.passages),
            partial(messages, task),
            backend.count_tokens,
            limit,
        )
        for task in tasks
    ]
    replies = backend.generate([asked for asked, _ in fitted], Decoding(max_new_tokens))
    return [
        Answer(reply.text, reply.truncated, reply.completion_tokens, cut)
        for reply, (_, cut) in zip(replies, fitted, strict=True)
    ]


def read_answers(
    path: Path, tasks: Sequence[FactualTask], needed: Sequence[FactualTask] | None = None
) -> dict[str, Answer]:
    """Recorded answers by task: JSON Lines with ``id`` and ``answer``, such as a result's ``verdicts.jsonl``.

    Args:
        path: the file.
        tasks: the tasks that may have answers.
        needed: the tasks that must have answers; by default all.

    Raises:
        InputError: if a row is wrong, names an unknown task or one twice, or a needed task has no answer.
    """
    known = {task.id: task for task in tasks}
    found: dict[str, Answer] = {}
    for row in read_lines(path):
        name = known_id(row, known, found)
        found[name] = Answer(row.text("answer", empty=True))
    wanted = [task.id for task in (tasks if needed is None else needed)]
    missing = [name for name in wanted if name not in found]
    if missing:
        raise InputError(
            f"has no answer to {len(missing)} of {len(wanted)} tasks (first: {missing[0]}); "
            "write an empty text where the model gave none",
            file=path,
        )
    return found
