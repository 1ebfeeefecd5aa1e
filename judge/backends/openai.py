"""A model behind an OpenAI-compatible chat endpoint: OpenAI, vLLM, llama.cpp and many others.

The probabilities of label words depend on what the server returns. vLLM scores them as whole token sequences,
like the engines in this process. Other servers list the likeliest tokens at each place of a reply, or
nothing; then the verdict is the text of the reply, without a probability.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import local
from typing import Any

from judge.backends.alternatives import read_words
from judge.backends.base import WORD_TOKENS, Backend, Decoding, Generation, LabelRequest
from judge.backends.openai_requests import chat_request, conversation_key, generation, own_seed
from judge.backends.vllm_server import (
    COARSE,
    Step,
    VLLMServer,
    looks_coarse,
    step_request,
    step_scores,
)
from judge.errors import InputError, warn
from judge.prompting.rendering import defused
from judge.remote import CallCache, ChatClient, ChatRequest, EndpointConfig, Reply
from judge.remote.client import LOOK_AHEAD
from judge.types import Message

CONTEXT_LENGTH = 32_768
"""Assumed context length if the server does not report it."""
BYTES_PER_TOKEN = 3
"""For estimates if a server does not count tokens; they are high: English has over 4 and Chinese about 3."""

OWN_TOP_K = (
    "{url} may keep a top_k of its own, since OpenAI's protocol has none that could switch it off; a top_k "
    "that is asked for is sent"
)

LENGTHS = 1024
"""Number of prompts whose token counts are cached."""
Messages = Sequence[Message]


class OpenAIBackend(Backend):
    """Asks an endpoint. Calls are cached, retried and counted by :mod:`judge.remote`.

    Args:
        endpoint: address of the server, and the model's name there.
        max_length: upper limit on the context; by default the server's, or :data:`CONTEXT_LENGTH`.
        call_cache: file in which responses are cached, by address and model; no cache by default. If the
            weights behind an address change, use another file.

    Raises:
        InputError: if the server has no such model, or the file is not a call cache.
    """

    def __init__(
        self,
        endpoint: EndpointConfig,
        *,
        max_length: int | None = None,
        call_cache: Path | None = None,
    ):
        self.endpoint = endpoint
        # More than are in flight, so that there is always another one to send.
        self.at_once = LOOK_AHEAD * endpoint.concurrency
        cache = None if call_cache is None else CallCache(call_cache)
        # Two servers may run different weights under the same name.
        self._client = ChatClient(endpoint, name=f"judge {endpoint.base_url}", cache=cache)
        self._vllm = VLLMServer.find(self._client.endpoint)
        self.takes_patterns = self._vllm is not None
        limit = CONTEXT_LENGTH if self._vllm is None else self._vllm.context_length
        self.context_length = min(limit, max_length or limit)
        self._lists: bool | None = None  # whether the server lists alternatives to tokens; unknown at first
        self._warned = self._noted = False
        self._last = local()  # ``replies``: those of a thread's last call, by conversation
        self._lengths: dict[tuple[str, ...], int] = {}  # tokens of prompts, from the usage of replies
        self._count = lru_cache(maxsize=512)(self._count_tokens)

    def count_tokens(self, messages: Messages) -> int:
        """Tokens of a prompt: counted by vLLM, else estimated, rather too high than too low."""
        messages = defused(messages)
        length = self._lengths.get(conversation_key(messages))
        return length or self._count(tuple((message["role"], message["content"]) for message in messages))

    def surely_fits(self, messages: Messages, limit: int) -> bool:
        """Whether the number of bytes shows that a prompt fits the limit; only on a vLLM server."""
        return self._vllm is not None and self._vllm.most(defused(messages)) <= limit

    def describe(self) -> dict[str, Any]:
        """Model, address, kind of server, context length."""
        return {
            "backend": "openai",
            "model": self.endpoint.model,
            "base_url": self.endpoint.base_url,
            "server": "unknown" if self._vllm is None else "vllm",
            "context_length": self.context_length,
        }

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float] | None]:
        """Log-probabilities of the two words of each request, as far as the server returns them.

        vLLM returns them exactly, unless a word's tokens split a character. Elsewhere they come from the
        alternatives to the tokens of a reply (:func:`~judge.backends.alternatives.read_words`): a short reply
        requested for this or, after a prefix, the reply that was just generated with that prefix.
        """
        requests = [replace(request, messages=defused(request.messages)) for request in requests]
        found: list[tuple[float, float] | None] = [None] * len(requests)
        exact: dict[int, tuple[list[Step], list[Step]]] = {}
        short: list[int] = []
        for place, request in enumerate(requests):
            steps = self._vllm and self._vllm.label_steps(request)
            if steps:
                exact[place] = steps
            elif not request.prefix:
                short.append(place)
            elif (reply := self._reply_with(request)) is not None:
                found[place] = read_words(reply.logprobs, request.prefix, request.words)
        for place, pair in self._score({place: requests[place] for place in exact}, exact):
            found[place] = pair
        vllm = self._vllm is not None
        alone = 1 if self._lists is None else 0  # the first one shows whether asking is of any use
        for places in (short[:alone], short[alone:]):
            if self._lists is False:
                break
            asked = [chat_request(requests[place].messages, WORD_TOKENS, vllm=vllm) for place in places]
            for place, reply in zip(places, self._ask(asked), strict=True):
                found[place] = read_words(reply.logprobs, "", requests[place].words)
        return found

    def generate(self, conversations: Sequence[Messages], decoding: Decoding) -> list[Generation]:
        """One reply per conversation; repeated conversations in a call get different seeds.

        A JSON schema constrains replies on servers that support it, a regular expression only on vLLM.
        """
        conversations = [defused(messages) for messages in conversations]
        vllm = self._vllm is not None
        before: Counter[tuple[str, ...]] = Counter()
        asked = []
        for messages in conversations:
            request = chat_request(messages, decoding.max_new_tokens, decoding.guide, vllm=vllm)
            if decoding.temperature > 0:
                request = replace(
                    request,
                    temperature=decoding.temperature,
                    seed=own_seed(decoding.seed, before[conversation_key(messages)]),
                    extra={**request.extra, **self._sampling(decoding)},
                )
            before[conversation_key(messages)] += 1
            asked.append(request)
        replies = self._ask(asked)
        by_conversation: dict[tuple[str, ...], list[Reply]] = {}
        for messages, reply in zip(conversations, replies, strict=True):
            by_conversation.setdefault(conversation_key(messages), []).append(reply)
            self._learn(messages, reply)
        self._last.replies = by_conversation
        return [generation(reply) for reply in replies]

    def _sampling(self, decoding: Decoding) -> dict[str, Any]:
        """Sampling fields of a request; vLLM takes those that are missing from the model's defaults."""
        if self._vllm is not None:
            return {"top_p": decoding.top_p, "top_k": decoding.top_k, "min_p": 0.0}
        if decoding.top_k:
            return {"top_p": decoding.top_p, "top_k": decoding.top_k}
        if not self._noted:
            self._noted = True
            warn(OWN_TOP_K.format(url=self.endpoint.base_url))
        return {"top_p": decoding.top_p}

    def _ask(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The replies in order. The very first one shows whether the server lists alternatives."""
        first = [self._try_lists(requests[0])] if requests and self._lists is None else []
        rest = requests[len(first) :]
        if self._lists is False:
            rest = [replace(request, top_logprobs=None) for request in rest]
        return [*first, *self._client.run(rest)] if rest else first

    def _try_lists(self, request: ChatRequest) -> Reply:
        try:
            [reply] = self._client.run([request])
        except InputError:  # the server may not support top_logprobs; any other error comes again without
            [reply] = self._client.run([replace(request, top_logprobs=None)])
            self._lists = False
        else:
            if reply.problem is None:
                self._lists = bool(reply.logprobs)
        return reply

    def _score(
        self,
        requests: Mapping[int, LabelRequest],
        steps: Mapping[int, tuple[list[Step], list[Step]]],
    ) -> Iterator[tuple[int, tuple[float, float] | None]]:
        """Scores on vLLM, by index of the request: the log-probabilities of each word's tokens, added up."""
        wanted: dict[tuple[int, str], set[int]] = {}
        for place, words in steps.items():
            for step in (step for word in words for step in word):
                wanted.setdefault((place, step.lead), set()).add(step.token)
        asked = (
            step_request(requests[place], lead, sorted(tokens)) for (place, lead), tokens in wanted.items()
        )
        replies = dict(zip(wanted, self._client.run(asked), strict=True)) if wanted else {}
        scores = {step: step_scores(reply) for step, reply in replies.items()}
        for (place, lead), reply in replies.items():
            if not requests[place].prefix + lead:
                self._learn(requests[place].messages, reply)
        if not self._warned and looks_coarse(scores.values()):
            self._warned = True
            print(COARSE.format(url=self.endpoint.base_url), file=sys.stderr, flush=True)
        for place, words in steps.items():
            first, second = (
                sum(scores[place, step.lead].get(step.token, math.nan) for step in word) for word in words
            )
            yield place, None if math.isnan(first + second) else (first, second)

    def _learn(self, messages: Messages, reply: Reply) -> None:
        """Remember a prompt's token count from a vLLM server's reply, which saves a request for it."""
        if self._vllm is not None and reply.usage.prompt_tokens:
            if len(self._lengths) >= LENGTHS:
                self._lengths = {}
            self._lengths[conversation_key(messages)] = reply.usage.prompt_tokens

    def _reply_with(self, request: LabelRequest) -> Reply | None:
        by_conversation: dict[tuple[str, ...], list[Reply]] = getattr(self._last, "replies", {})
        replies = by_conversation.get(conversation_key(request.messages), ())
        return next((reply for reply in replies if reply.text.startswith(request.prefix)), None)

    def _count_tokens(self, turns: tuple[tuple[str, str], ...]) -> int:
        if self._vllm is not None:
            return self._vllm.count([{"role": role, "content": content} for role, content in turns])
        return sum(16 + -(-len(content.encode()) // BYTES_PER_TOKEN) for _, content in turns)
