"""The interface between a judge and the engine that runs its model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judge.types import Message

WORD_TOKENS = 8
"""Token limit of a reply that should be one label word."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generated reply. ``truncated`` means that it hit the token limit before it ended.

    ``error`` is the reason if a server refused to give a reply.
    """

    text: str
    truncated: bool
    completion_tokens: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """Which of ``words`` continues the conversation? ``prefix`` is the part of the reply before the word."""

    messages: Sequence[Message]
    words: tuple[str, str]
    prefix: str = ""


Guide = Mapping[str, Any] | str
"""Constraint on replies in constrained decoding: a JSON schema, or a regular expression."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How replies are decoded, the same on every engine.

    ``max_new_tokens`` limits a reply. ``temperature`` 0 is greedy; above 0, tokens are sampled with ``seed``
    from the ``top_k`` likeliest ones (0: all), and of these from the smallest set with probability ``top_p``.
    A model's generation config is ignored. Engines with constrained decoding restrict replies to ``guide``.
    """

    max_new_tokens: int
    temperature: float = 0.0
    seed: int = 0
    guide: Guide | None = None
    top_p: float = 1.0
    top_k: int = 0

    def describe(self) -> dict[str, Any]:
        """Everything but the guide, for reports."""
        return {
            "max_new_tokens": self.max_new_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "seed": self.seed,
        }


class Backend(Protocol):
    """An engine with one loaded model.

    Optional members:

    ``surely_fits(messages, limit)``: a cheap check that a prompt has at most this many tokens, for engines
    that ask a server to count; ``False`` if only counting can tell.

    ``at_once``: number of sequences that run together in an engine with continuous batching, which serves
    calls from any number of threads: a call joins the running batch and returns when it is done.

    ``replies_together``: number of replies that are best generated together.

    ``read_ahead(conversations)``: tokenizes prompts that will be counted and scored next, which is faster in
    one go than one by one.
    """

    context_length: int
    """Maximum tokens of prompt and reply together."""
    concurrent: bool
    """Whether several threads may call it at once."""

    @property
    def takes_patterns(self) -> bool:
        """Whether ``generate`` can constrain replies to a regular expression."""
        ...

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt as rendered by this engine's chat template."""
        ...

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """One reply per conversation, in order."""
        ...

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> Sequence[tuple[float, float] | None]:
        """Natural-log probabilities of each request's two words as whole token sequences, in order.

        ``None`` if the engine, such as a remote server, does not return them.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Model, revision, engine, number format and device, for reports."""
        ...
