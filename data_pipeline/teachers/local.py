"""A chat model in this process, with the interface of an endpoint's client."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from judge.backends.base import Backend, Decoding, Generation
from judge.remote.cache import CallCache, call_key
from judge.remote.chat import ChatRequest, Reply, read_reply

CHUNK = 64
"""Requests taken at a time; the backend forms its batches from them."""


class LocalClient:
    """Runs chat requests on a backend, in order, and caches replies like those of an endpoint.

    The JSON of a reply is read from its outermost braces and then checked. Failed requests are not retried: a
    greedy model would say the same.

    Args:
        backend: the loaded model.
        model: its name, part of the cache key.
        cache: keeps the replies; without one, nothing is kept.
        name: the teacher's name, also part of the cache key.
    """

    def __init__(self, backend: Backend, model: str, cache: CallCache | None = None, name: str = ""):
        self.backend, self.model, self.cache, self.name = backend, model, cache, name

    def run(self, requests: Iterable[ChatRequest]) -> Iterator[Reply]:
        """Yield the reply to each request, in order."""
        stream = iter(requests)
        while chunk := list(islice(stream, CHUNK)):
            yield from self._run(chunk)

    def _run(self, requests: list[ChatRequest]) -> Iterator[Reply]:
        keys = [call_key(self.name, request.body(self.model)) for request in requests]
        replies: dict[bytes, Reply] = {}
        missing: dict[bytes, ChatRequest] = {}
        for key, request in zip(keys, requests, strict=True):
            known = self.cache.last(key) if self.cache else None
            if known is not None:
                replies[key] = read_reply(json.loads(known.response), request, None, cached=True)
            elif too_long := self._too_long(request):
                replies[key] = too_long
            else:
                missing[key] = request
        for batch in self._batches(missing):
            replies |= self._generate(batch)
        yield from (replies[key] for key in keys)

    def _too_long(self, request: ChatRequest) -> Reply | None:
        """The reply to a prompt that leaves too little context for its answer; ``None`` if it fits."""
        length, room = self.backend.count_tokens(request.messages), self.backend.context_length
        if length + request.max_tokens <= room:
            return None
        wanted = f"{length} tokens and up to {request.max_tokens} of a reply do not fit into {room}"
        return Reply("", problem="too_long", detail=wanted)

    def _batches(self, missing: dict[bytes, ChatRequest]) -> Iterator[dict[bytes, ChatRequest]]:
        """Group requests that can share a batch. Sampled ones run alone, so that they depend on no other."""
        batches: dict[tuple[object, ...], dict[bytes, ChatRequest]] = {}
        for key, request in missing.items():
            alike = (request.max_tokens, key if request.temperature else None)
            batches.setdefault(alike, {})[key] = request
        yield from batches.values()

    def _generate(self, batch: dict[bytes, ChatRequest]) -> dict[bytes, Reply]:
        """Generate the replies to a batch and cache each in the form of an endpoint's response."""
        first = next(iter(batch.values()))
        top_p = 1.0 if first.top_p is None else first.top_p
        decoding = Decoding(first.max_tokens, first.temperature or 0.0, first.seed or 0, top_p=top_p)
        generations = self.backend.generate([request.messages for request in batch.values()], decoding)
        replies: dict[bytes, Reply] = {}
        for (key, request), generation in zip(batch.items(), generations, strict=True):
            length = self.backend.count_tokens(request.messages)
            raw = response(generation, length, wants_json=request.schema is not None)
            replies[key] = reply = read_reply(raw, request, prices=None)
            if self.cache:
                self.cache.put(key, reply.problem, json.dumps(raw, ensure_ascii=False))
        return replies


def response(generation: Generation, prompt_tokens: int, wants_json: bool) -> dict[str, Any]:
    """A generation in the form of a chat completion."""
    text = generation.text
    begin, end = text.find("{"), text.rfind("}")
    if wants_json and 0 <= begin < end:  # what a model writes around its JSON is left out
        text = text[begin : end + 1]
    finish = "length" if generation.truncated else "stop"
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": generation.completion_tokens},
    }
