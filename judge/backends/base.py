"""The interface between a judge and the engine that runs its model."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.prompting.rendering import Renderer
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


class Backend(ABC):
    """An engine with one loaded model."""

    context_length: int
    """Maximum tokens of prompt and reply together."""
    takes_patterns: bool = False
    """Whether ``generate`` can constrain replies to a regular expression."""
    at_once: int = 1
    """Sequences that run together in an engine with continuous batching. If more than 1, any number of
    threads may call it: a call joins the running batch and returns when it is done."""
    replies_together: int = 0
    """Number of replies that are best generated together."""

    @abstractmethod
    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt as rendered by this engine's chat template, generation prompt included."""

    def surely_fits(self, messages: Sequence[Message], limit: int) -> bool:
        """A cheap check that a prompt has at most this many tokens; ``False`` if only counting can tell."""
        return False

    def read_ahead(self, conversations: Sequence[Sequence[Message]]) -> None:  # noqa: B027 (may do nothing)
        """Tokenize prompts that will be counted and scored next, if it is faster to do so together."""

    @abstractmethod
    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """One reply per conversation, in order."""

    @abstractmethod
    def label_logprobs(self, requests: Sequence[LabelRequest]) -> Sequence[tuple[float, float] | None]:
        """Natural-log probabilities of each request's two words as whole token sequences, in order.

        ``None`` if the engine, such as a remote server, does not return them.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Model, revision, engine, number format and device, for reports."""


class RenderingBackend(Backend):
    """An engine in this process that takes tokens, with the tokenizer and chat template of transformers."""

    renderer: Renderer

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return self.renderer.count(messages)

    def read_ahead(self, conversations: Sequence[Sequence[Message]]) -> None:
        """Tokenize prompts together; the renderer keeps their tokens."""
        self.renderer.read_ahead(conversations)

    def prompts(self, conversations: Sequence[Sequence[Message]]) -> list[tuple[int, ...]]:
        """The tokens of each prompt."""
        return [tuple(self.renderer.encode(self.renderer.prompt_text(talk))) for talk in conversations]

    def reply(self, tokens: Sequence[int], stops: Sequence[int]) -> Generation:
        """A reply from its tokens, up to the first of ``stops``."""
        length = next((place for place, token in enumerate(tokens) if token in stops), len(tokens))
        text = self.renderer.tokenizer.decode(tokens[:length], skip_special_tokens=True)
        return Generation(str(text), truncated=length == len(tokens), completion_tokens=length)
