"""The teacher protocol, and how chat models are asked: in order, as one stream."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import tee
from typing import Protocol, TypeVar

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.teachers.prompts.base import Prompted
from judge.remote.chat import Reply
from judge.types import Label, Sample


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one teacher says of one answer.

    ``label`` is ``None`` if the reply has no verdict with a reasoning; ``problem`` then says why. Such a
    judgement counts as neither right nor wrong.
    """

    teacher: str
    label: Label | None
    reasoning: str = ""
    problem: str | None = None
    raw: str = ""


class Teacher(Protocol):
    """Perturbs gold answers and judges answers, both in order and as a stream."""

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        """A wrong answer for every gold sample, or the reason why there is none."""
        ...

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        """A judgement of every sample, made without looking at its label and ``meta``."""
        ...


Ask = Callable[[Iterable[Prompted]], Iterator[Reply]]
"""Sends prompts to a chat model and yields the replies in the prompts' order.

Prompts are consumed lazily, in the thread that consumes the replies, so the prompts of one stage may be made
from the replies of another.
"""
Item = TypeVar("Item")


def ask_each(
    items: Iterable[Item], prompt: Callable[[Item], Prompted], ask: Ask
) -> Iterator[tuple[Item, Reply]]:
    """Send one prompt per item; yields the items in order, each with its reply."""
    kept, asked = tee(items)
    return zip(kept, ask(prompt(item) for item in asked), strict=True)


def reply_texts(reply: Reply, *keys: str) -> tuple[str, ...] | Rejected:
    """The texts under ``keys`` of a JSON reply, in this order, or why there are none."""
    if reply.problem is not None:
        return Rejected(reply.problem, reply.detail)
    values = [reply.parsed.get(key) if isinstance(reply.parsed, dict) else None for key in keys]
    found = tuple(value.strip() for value in values if isinstance(value, str) and value.strip())
    if len(found) < len(keys):
        return Rejected("invalid", f"the reply has no text under one of: {', '.join(keys)}")
    return found


def reply_points(reply: Reply, key: str) -> str | Rejected:
    """The bullet points under ``key`` of a JSON reply, one per line, or why there are none."""
    if reply.problem is not None:
        return Rejected(reply.problem, reply.detail)
    points = reply.parsed.get(key) if isinstance(reply.parsed, dict) else None
    texts = [str(point).strip().lstrip("-*•· ") for point in points] if isinstance(points, list) else []
    lines = [f"- {' '.join(text.split())}" for text in texts if text]
    return "\n".join(lines) if lines else Rejected("invalid", f"the reply has no points under {key}")
