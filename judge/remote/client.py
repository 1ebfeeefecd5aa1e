"""The client of one model behind an OpenAI-compatible endpoint: many calls in order, or one at a time.

    with CallCache(Path("calls.sqlite")) as cache:
        client = ChatClient(EndpointConfig(base_url="http://localhost:8000/v1", model="m"), cache=cache)
        print(client.estimate(requests).text())
        for reply in client.run(requests):
            ...

If the server answers the same, the replies are the same, whatever the concurrency, the faults on the way and
the number of restarts.
"""

import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from threading import BoundedSemaphore, Event, Lock
from weakref import WeakValueDictionary

from judge.checker import ahead
from judge.errors import InputError
from judge.remote.budget import Budget, Estimate, Spending
from judge.remote.cache import CallCache, StoredCall, call_key
from judge.remote.chat import ChatRequest, Reply, price, read_reply, read_usage
from judge.remote.config import EndpointConfig
from judge.remote.transport import Endpoint, Rejected, Response, TryAgain
from judge.types import Message, Usage

LOOK_AHEAD = 4
"""Requests read ahead per concurrent call, so that others continue while the first in order is slow."""


class _Stopped(Exception):
    """The run ended before this call was sent."""


class ChatClient:
    """One model behind one endpoint.

    Args:
        config: the endpoint and its model.
        name: the teacher's name; part of a call's key in the cache.
        cache: where responses are kept; without one, nothing is kept.
        budget: the limits of this run, shared with other clients; none by default. ``budget.spent`` counts.

    Raises:
        InputError: if the budget is in money and the endpoint has no prices.
    """

    def __init__(
        self,
        config: EndpointConfig,
        *,
        name: str = "",
        cache: CallCache | None = None,
        budget: Budget | None = None,
    ):
        self.config, self.name, self.cache = config, name, cache
        self.budget = budget or Budget()
        if self.budget.money is not None and config.prices is None:
            raise InputError(f"a budget in money needs the prices of {config.model!r}", field="prices")
        self._slots = BoundedSemaphore(config.concurrency)
        self._lock = Lock()
        self._same_call: WeakValueDictionary[bytes, Lock] = WeakValueDictionary()

    @cached_property
    def endpoint(self) -> Endpoint:
        """The connection to it. Raises ``InputError`` if the key in the environment cannot be a key."""
        kept = "nothing is kept (for judges: --set call_cache=FILE)"
        return Endpoint(self.config, "what is answered is kept in the call cache" if self.cache else kept)

    def run(self, requests: Iterable[ChatRequest]) -> Iterator[Reply]:
        """Yield the reply to each request, in order, as they arrive.

        Calls continue in threads while the caller works on a reply. Only a bounded number of requests is read
        ahead, so they may be endless. Concurrent runs share the connections and the limit ``concurrency``.

        Raises:
            JudgeError: if every retry failed or the budget is used up. Errors of ``requests`` are passed on.
                Both come after the replies before them; calls in flight are then finished and kept.
            InputError: if the endpoint refuses such requests: wrong key, address, model or parameter.
        """
        _ = self.endpoint  # raises its errors here
        stopped, failed = Event(), list[Exception]()

        def complete(request: ChatRequest) -> Reply:
            try:
                return self._complete(request, stopped)
            except Exception as error:
                failed.append(error)
                stopped.set()  # nothing more is sent
                raise failed[0]  # noqa: B904 (calls stopped by it fail for the same reason)

        threads = self.config.concurrency
        replies = ahead(complete, requests, threads, LOOK_AHEAD * threads)
        try:
            for reply in replies:  # noqa: UP028 (with "yield from", closing would wait for retries)
                yield reply
        finally:
            stopped.set()

    def _complete(self, request: ChatRequest, stopped: Event) -> Reply:
        """The reply from the cache or the endpoint; of two identical calls one waits for the other."""
        body = request.body(self.config.model, self.config.token_limit)
        key = call_key(self.name, body)
        with self._lock:
            same_call = self._same_call.setdefault(key, Lock())
        with same_call:
            known = self.cache.last(key) if self.cache else None
            if known and known.settled(self.config.ask_again):
                return self._read(known, request)
            for asked in itertools.count(known.attempt + 2 if known else 1):
                try:
                    response = self.endpoint.retrying(
                        self.endpoint.url,
                        lambda: self._try(request, body, stopped),
                        lambda seconds: _sleep(seconds, stopped),
                    )
                except Rejected as error:
                    return Reply(text="", problem=error.problem, detail=str(error))
                reply = read_reply(response.raw, request, self.config.prices)
                other = self.cache.put(key, reply.problem, response.text) if self.cache else None
                if other is not None:  # another process got an answer first
                    return self._read(other, request)
                if reply.problem is None or asked > self.config.ask_again:
                    return reply
        raise AssertionError("counting never ends")

    def cached(self, request: ChatRequest) -> Reply | None:
        """The answer to a request that the cache holds; ``None`` if there is none."""
        body = request.body(self.config.model, self.config.token_limit)
        known = self.cache.last(call_key(self.name, body)) if self.cache else None
        return self._read(known, request) if known and known.problem is None else None

    def _read(self, call: StoredCall, request: ChatRequest) -> Reply:
        return read_reply(json.loads(call.response), request, self.config.prices, cached=True)

    def _try(self, request: ChatRequest, body: bytes, stopped: Event) -> Response:
        """Send once, as soon as concurrency and budget allow."""
        # No tokenizer makes more tokens than bytes; the body's JSON syntax makes up for the chat template.
        most = Spending.of(Usage(len(body), request.max_tokens), self.config.prices)
        with self._slots:
            _sleep(self.endpoint.open_again - time.monotonic(), stopped)
            self.budget.hold(most)
            used = most  # if the answer gets lost or does not give its usage
            try:
                if stopped.is_set():
                    raise _Stopped
                response = self.endpoint.send(body)
                if usage := read_usage(response.raw):
                    used = Spending.of(usage, self.config.prices)
                return response
            except (_Stopped, Rejected, InputError):
                used = Spending()
                raise
            except TryAgain as error:
                used = most if error.lost else Spending()
                raise
            finally:
                self.budget.settle(most, used)

    def estimate(
        self,
        requests: Iterable[ChatRequest],
        count_tokens: Callable[[Sequence[Message]], int] | None = None,
    ) -> Estimate:
        """What running the requests would use, without making calls.

        Args:
            requests: as for :meth:`run`; duplicates count as one call.
            count_tokens: counts a prompt's tokens, by the model's tokenizer; else a quarter of the bytes.
        """
        seen: set[bytes] = set()
        cached = prompt = completion = 0
        for request in requests:
            body = request.body(self.config.model, self.config.token_limit)
            key = call_key(self.name, body)
            if key in seen:
                continue
            seen.add(key)
            known = self.cache.last(key) if self.cache else None
            if known and known.settled(self.config.ask_again):
                cached += 1
            else:
                prompt += count_tokens(request.messages) if count_tokens else -(-len(body) // 4)
                completion += request.max_tokens
        prices = self.config.prices
        return Estimate(
            calls=len(seen) - cached,
            cached=cached,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=None if prices is None else price(Usage(prompt, completion), prices),
            counted="counted by the tokenizer" if count_tokens else "estimated: a quarter of the bytes",
        )


def _sleep(seconds: float, stopped: Event) -> None:
    if stopped.wait(max(0.0, seconds)):
        raise _Stopped
