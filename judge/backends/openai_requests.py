"""What an OpenAI-compatible chat endpoint is sent for a judge, and its reply as engines give it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from judge.backends.base import WORD_TOKENS, Generation, Guide
from judge.backends.vllm_server import turn
from judge.remote import ChatRequest, Reply
from judge.types import Message

TOP = 20
"""Alternatives to each token that are asked for: the most that OpenAI and, unless told, vLLM give."""
TOP_LONG = 5
"""The same of a long reply, which would else be a megabyte."""


def chat_request(
    messages: Sequence[Message], max_tokens: int, guide: Guide | None = None, *, vllm: bool
) -> ChatRequest:
    """A request for a greedy reply; only vLLM takes a regular expression as its guide."""
    extra: dict[str, Any] = {}
    if vllm:
        # A model's own defaults apply there unless told, and a penalty would punish quoting the document.
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
    """The seed of a conversation that came so often before; that of no other one with a seed near by."""
    return int.from_bytes(sha256(repr((seed, before)).encode()).digest()[:4]) >> 1


def generation(reply: Reply) -> Generation:
    """A reply as engines give it; one that the server withheld has its reason."""
    withheld = reply.problem in ("refused", "too_long")
    return Generation(
        text="" if withheld else reply.text,
        truncated=reply.finish_reason == "length",
        completion_tokens=reply.usage.completion_tokens,
        error=f"{reply.problem.replace('_', ' ')}: {reply.detail}" if withheld and reply.problem else None,
    )
