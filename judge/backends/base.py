"""What a judge asks of an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judge.types import Message

WORD_TOKENS = 8
"""Limit of a reply that is to be one label word."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generated reply. ``truncated`` says that it hit the token limit instead of ending by itself.

    ``error`` says why there is none, where a server would not give one.
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
"""What replies are held to while they are decoded: a JSON schema, or a regular expression."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How replies are decoded, the same on every engine.

    ``max_new_tokens`` bounds a reply. ``temperature`` 0 is greedy; more samples, seeded by ``seed``, from the
    ``top_k`` likeliest tokens (0: all), of these from as many as hold ``top_p`` of the probability. Nothing
    else shapes the choice: what a model's generation config says is not used. Engines that can do so hold
    replies to ``guide``.
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

    It may also have:

    ``surely_fits(messages, limit)``: whether a prompt has at most this many tokens, where counting asks a
    server; ``False`` where only counting can tell.

    ``at_once``: the sequences that run together, of an engine that makes its batches anew of the calls of any
    number of threads: a call joins what is in work, and is answered when it is done.

    ``replies_together``: the replies that it writes best together, in hardly more time than a few.

    ``read_ahead(conversations)``: tokenizes prompts that will be counted and asked about next, many faster
    together than one by one.
    """

    context_length: int
    """Tokens that prompt and reply may take together."""
    concurrent: bool
    """Whether several threads may call it at once."""

    @property
    def takes_patterns(self) -> bool:
        """Whether ``generate`` holds replies to a regular expression."""
        ...

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt as this engine's chat template writes it."""
        ...

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """One reply a conversation, in order."""
        ...

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> Sequence[tuple[float, float] | None]:
        """Natural-log probabilities of each request's two words as whole token sequences, in order.

        ``None`` where the engine, a server of somebody else's, does not tell.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Model, revision, engine, number format, device: what a report must name."""
        ...
