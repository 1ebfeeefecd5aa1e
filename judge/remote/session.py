"""Calls in an event loop: looked up, asked once, retried, counted, kept.

A call that failed (:class:`~judge.remote.transport.TryAgain`) is sent again after a wait; a call whose reply
is no answer is repeated at once. What is sent is the same each time, so neither these nor the number of calls
on the wire, the order in which they end or where a run was stopped change the answer.
"""

import asyncio
import itertools
import json
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from weakref import WeakValueDictionary

from judge.errors import InputError, JudgeError
from judge.progress import stage
from judge.remote.budget import Budget, Spending
from judge.remote.cache import CallCache, StoredCall, call_key
from judge.remote.chat import ChatRequest, Reply, price, read_reply, read_usage
from judge.remote.config import EndpointConfig
from judge.remote.transport import Endpoint, Rejected, Response, TryAgain, Unreachable
from judge.types import Usage

LONGEST_BACKOFF = 30.0
"""Seconds between two tries, where the server does not ask for more."""

FIRST_CONNECTION = 10.0
"""Seconds that a server is tried which never was there: its address is wrong, or it was not started."""

LONGEST_RETRY_AFTER = 600.0
"""A server that asks for more seconds than this is taken for one that does not want the run."""


class Stopped(Exception):
    """The run ended before this call was sent."""


class ChatSession:
    """One endpoint in one event loop; made by :meth:`judge.remote.client.ChatClient.session`.

    ``reached`` is set when the server answers for the first time; sessions of one client share it.
    """

    def __init__(
        self, config: EndpointConfig, name: str, cache: CallCache | None, budget: Budget, reached: Event
    ):
        self.config, self.name, self.cache, self.budget = config, name, cache, budget
        self._reached, self._shows = reached, False
        self._endpoint = Endpoint(config)

    async def __aenter__(self) -> "ChatSession":
        self._slots = asyncio.Semaphore(self.config.concurrency)
        self._same_call: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        self._stopped = asyncio.Event()
        self._open_again = 0.0  # when the endpoint takes calls again, on the monotonic clock
        await self._endpoint.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._endpoint.__aexit__(*exception)

    async def complete(self, request: ChatRequest) -> Reply:
        """The reply to a request: from the cache, or asked for and kept the moment that it is there.

        With a cache, the same request twice at once is one call.

        Raises:
            JudgeError: the endpoint failed every retry, or the budget is used up.
            InputError: the endpoint takes no such request: wrong key, address, model or parameter.
        """
        body = request.body(self.config.model, self.config.token_limit)
        key = call_key(self.name, body)
        async with self._same_call.setdefault(key, asyncio.Lock()):
            known = self.cache.last(key) if self.cache else None
            if known and known.settled(self.config.ask_again):
                return self._read(known, request)
            return await self._ask(request, body, key, known.attempt + 1 if known else 0)

    def stop(self) -> None:
        """Send nothing more; calls on the wire end as they would."""
        self._stopped.set()

    async def _ask(self, request: ChatRequest, body: bytes, key: bytes, asked: int) -> Reply:
        """Ask until the reply is an answer, as often as is allowed; ``asked`` counts earlier runs."""
        while True:
            try:
                response = await self._send(request, body)
            except Rejected as error:
                return Reply(text="", problem=error.problem, detail=str(error))
            reply = read_reply(response.raw, request, self.config.prices)
            other = self.cache.put(key, reply.problem, response.text) if self.cache else None
            if other is not None:  # another process was answered first
                return self._read(other, request)
            asked += 1
            if reply.problem is None or asked > self.config.ask_again:
                return reply

    def _read(self, call: StoredCall, request: ChatRequest) -> Reply:
        return read_reply(json.loads(call.response), request, self.config.prices, cached=True)

    async def _send(self, request: ChatRequest, body: bytes) -> Response:
        """Send until there is a reply, as often as is allowed."""
        begun = time.monotonic()
        with ExitStack() as shown:
            for failures in itertools.count(1):
                try:
                    response = await self._try(request, body)
                    self._reached.set()
                    return response
                except TryAgain as error:
                    backoff = min(self.config.backoff * 2 ** (failures - 1), LONGEST_BACKOFF)
                    if not isinstance(error, Unreachable):
                        self._reached.set()
                    hopeless = (
                        not self._reached.is_set() and time.monotonic() + backoff > begun + FIRST_CONNECTION
                    )
                    too_long = (error.wait or 0) > LONGEST_RETRY_AFTER
                    if failures > self.config.retries or too_long or hopeless:
                        raise JudgeError(self._given_up(error, failures)) from None
                    if error.wait is not None:  # it would say the same to any other call
                        self._open_again = max(self._open_again, time.monotonic() + error.wait)
                    if not self._shows:
                        shown.enter_context(self._showing(error))
                    await self._sleep(max(backoff, error.wait or 0.0) * random.uniform(1.0, 1.25))
        raise AssertionError("counting never ends")

    @contextmanager
    def _showing(self, error: TryAgain) -> Iterator[None]:
        """Show that a call is tried again; of several that fail together one is enough."""
        self._shows = True
        try:
            with stage(f"{self._endpoint.url}: {error}; trying again"):
                yield
        finally:
            self._shows = False

    async def _try(self, request: ChatRequest, body: bytes) -> Response:
        """Send once, when there is room on the wire and in the budget."""
        # No tokenizer makes more tokens than bytes; the braces and names of the body pay for a chat template.
        most = self._spending(Usage(len(body), request.max_tokens))
        async with self._slots:
            await self._sleep(self._open_again - time.monotonic())
            await self.budget.hold(most)
            used = most  # so it is where the answer gets lost, or says nothing of its use
            try:
                if self._stopped.is_set():
                    raise Stopped
                response = await self._endpoint.send(body)
                if usage := read_usage(response.raw):
                    used = self._spending(usage)
                return response
            except (Stopped, Rejected, InputError):
                used = Spending()
                raise
            except TryAgain as error:
                used = most if error.lost else Spending()
                raise
            finally:
                self.budget.settle(most, used)

    def _spending(self, usage: Usage) -> Spending:
        tokens = usage.prompt_tokens + usage.completion_tokens
        return Spending(1, tokens, price(usage, self.config.prices))

    async def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), seconds)
        if self._stopped.is_set():
            raise Stopped

    def _given_up(self, error: TryAgain, failures: int) -> str:
        asks = "" if error.wait is None else f" and asks to wait {error.wait:,.0f} s"
        kept = "what is answered is kept in the call cache" if self.cache else "there is no call cache"
        often = "once" if failures == 1 else f"{failures} times"
        return (
            f"{self._endpoint.url} failed {often}; the last time, {error}{asks}. "
            f"Is the server up and the address right? Run again when it is: {kept}"
        )
