"""The recipe keys that define teachers and limit the calls to them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator

from judge.configs import StrictConfig
from judge.errors import unknown
from judge.models.weights import Precision
from judge.remote.config import EndpointConfig

ORIGINS = ("rules", "gold", "composed", "model")
"""Origins that rows give to judgements not made by a chat model; no teacher may have such a name."""


class TeacherConfig(StrictConfig):
    """A named chat model as a teacher; the built-in ``rules`` needs no entry."""

    name: str = Field(min_length=1)
    kind: Literal["openai", "local"]
    """``openai``: a model behind an OpenAI-compatible endpoint. ``local``: one that runs in this process."""
    endpoint: EndpointConfig | None = None
    """``openai``: address, model, key variable, concurrency, retries, prices."""
    model: str | None = None
    """``local``: Hub id or folder."""
    precision: Precision = "auto"
    """``local``: number format of the weights."""
    temperature: float = Field(default=0.0, ge=0)
    max_tokens: PositiveInt = 512

    @property
    def model_name(self) -> str:
        """The model's name in files: its name at the endpoint, its Hub id, or the name of its folder."""
        if self.endpoint is not None:
            return self.endpoint.model
        model = self.model or self.name
        return Path(model).name if Path(model).is_dir() else model

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Self:
        wanted, other = ("endpoint", "model") if self.kind == "openai" else ("model", "endpoint")
        if getattr(self, wanted) is None:
            raise ValueError(f"kind {self.kind} needs {wanted}")
        if getattr(self, other) is not None:
            raise ValueError(f"kind {self.kind} takes no {other}")
        if self.name in ORIGINS:
            raise ValueError(f"the name {self.name!r} has a meaning of its own in rows; take another")
        return self


def need_teachers(teachers: Sequence[TeacherConfig], named: Sequence[str | None], *others: str) -> None:
    """Check that every name given belongs to exactly one teacher.

    Args:
        teachers: the teachers of a recipe.
        named: the names used by its keys; ``None`` for a key that names nobody.
        others: names that need no entry.

    Raises:
        ValueError: if a name is unknown, or two teachers have the same name.
    """
    names = [*others, *(teacher.name for teacher in teachers)]
    if len(set(names)) < len(names):
        raise ValueError("two teachers have the same name")
    for name in named:
        if name is not None and name not in names:
            raise ValueError(unknown("teacher", name, names))


class CallsConfig(StrictConfig):
    """Cache and limits of the calls to teachers."""

    cache: str = "runs/calls.sqlite"
    """Every reply is kept here, so that no recipe asks for it twice."""
    money: NonNegativeFloat | None = None
    """Spending limit per run, in the currency of the teachers' prices."""
    tokens: PositiveInt | None = None
    """At most this many tokens per run, prompts and replies together."""
