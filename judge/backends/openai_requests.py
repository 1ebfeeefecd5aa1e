"""Requests to an OpenAI-compatible chat endpoint, and its replies as engines return them."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from judge.backends.base import WORD_TOKENS, Generation, Guide
from judge.backends.vllm_server import turn
from judge.remote import ChatRequest, Reply
from judge.types import Message

TOP = 20
"""Number of alternatives to request per token: the maximum of OpenAI and vLLM's default maximum."""
TOP_LONG = 5
"""The same for a long reply, which would otherwise be a megabyte."""


def chat_request(
    messages: Sequence[Message], max_tokens: int, guide: Guide | None = None, *, vllm: bool
) -> ChatRequest:
    """A request for a greedy reply; only vLLM takes a regular expression as its guide."""
    extra: dict[str, Any] = {}
    if vllm:
        # vLLM applies a model's own defaults otherwise, and a penalty would punish quoting the document.
        extra = {"repetition_penalty": 1.0, "top_p": 1.0, "top_k": 0, **turn(messages)}
        if isinstance(guide, str):
            extra["structured_outputs"] = {"regex": guide}
    schema = guide if isinstance(guide, Mapping) else None
    top = TOP if max_tokens <= WORD_TOKENS else TOP_LONG
    return ChatRequest(
        messages, schema, max_tokens, first_tokens=schema is None, top_logprobs=top, extra=extra
    )


def conversation_key(messages: Sequence[Message]) -> tuple[str, ...]:
    """A conversation as a key of a dictionary."""
    return tuple(part for message in messages for part in (message["role"], message["content"]))


def own_seed(seed: int, before: int) -> int:
    """The seed of a conversation that occurred ``before`` times already; nearby seeds are unrelated."""
    return int.from_bytes(sha256(repr((seed, before)).encode()).digest()[:4]) >> 1


def generation(reply: Reply) -> Generation:
    """A reply as engines return it; if the server withheld it, ``error`` has the reason."""
    withheld = reply.problem in ("refused", "too_long")
    return Generation(
        text="" if withheld else reply.text,
        truncated=reply.finish_reason == "length",
        completion_tokens=reply.usage.completion_tokens,
        error=f"{reply.problem.replace('_', ' ')}: {reply.detail}" if withheld and reply.problem else None,
    )
