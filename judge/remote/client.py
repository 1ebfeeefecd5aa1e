"""The client of one model behind an OpenAI-compatible endpoint: many calls in order, or one at a time.

    with CallCache(Path("calls.sqlite")) as cache:
        client = ChatClient(EndpointConfig(base_url="http://localhost:8000/v1", model="m"), cache=cache)
        print(client.estimate(requests).text())
        for reply in client.run(requests):
            ...

With the same answers of the server the replies are the same, whatever the concurrency, the faults on the way,
and how often the run was stopped and started again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from threading import Event, Lock

from judge.errors import InputError
from judge.remote.budget import Budget, Estimate
from judge.remote.cache import CallCache, call_key
from judge.remote.chat import ChatRequest, Reply, price
from judge.remote.config import EndpointConfig
from judge.remote.session import ChatSession
from judge.remote.thread import CallThread
from judge.types import Message, Usage

LOOK_AHEAD = 4
"""Requests taken ahead for each call on the wire, so that others go on while the first in order is slow."""


class ChatClient:
    """One model behind one endpoint.

    Args:
        config: the endpoint and its model.
        name: who is asked (a teacher's name); part of what a call is known by in the cache.
        cache: where responses are kept; nothing is kept without.
        budget: the limits of this run, shared with other clients; none by default. ``budget.spent`` counts.

    Raises:
        InputError: the budget is in money and the endpoint has no prices.
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
        self._calls: CallThread | None = None
        self._counting = Lock()
        self._reached = Event()

    def session(self) -> ChatSession:
        """For an event loop of one's own: ``async with client.session() as s: await s.complete(request)``."""
        return ChatSession(self.config, self.name, self.cache, self.budget, self._reached)

    def run(self, requests: Iterable[ChatRequest]) -> Iterator[Reply]:
        """Yield the reply to each request, in order, as they come.

        Calls go on in a thread of their own while the caller works on a reply. Requests are taken a bounded
        number ahead, so they may be many, or without end. Runs of several threads go on at once; they share
        the connections, and all of them together keep to ``concurrency``.

        Raises:
            JudgeError: as :meth:`ChatSession.complete` does, or what ``requests`` raises, after the replies
                before it. Calls that are on the wire then are waited for, and kept.
        """
        ahead: deque[Future[Reply]] = deque()
        with self._thread() as calls:
            try:
                for request in requests:
                    ahead.append(calls.submit(request))
                    while ahead and (ahead[0].done() or len(ahead) >= LOOK_AHEAD * self.config.concurrency):
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            except Exception:
                if calls.users == 1:
                    calls.stop()
                for future in ahead:
                    with suppress(Exception):  # the first one is raised
                        future.result()
                raise

    @contextmanager
    def _thread(self) -> Iterator[CallThread]:
        """The thread of calls: one for all runs that go on at once, a new one after a failure."""
        with self._counting:
            if self._calls is None or self._calls.failed:
                self._calls = CallThread(self.session()).__enter__()
            calls = self._calls
            calls.users += 1
        try:
            yield calls
        finally:
            with self._counting:
                calls.users -= 1
                last = calls.users == 0
                if last and self._calls is calls:
                    self._calls = None
            if last:
                calls.__exit__()

    def estimate(
        self,
        requests: Iterable[ChatRequest],
        count_tokens: Callable[[Sequence[Message]], int] | None = None,
    ) -> Estimate:
        """What running the requests would take, without a call.

        Args:
            requests: as for :meth:`run`; one that comes twice is one call.
            count_tokens: tokens of a prompt, by the model's tokenizer; without, a quarter of the bytes.
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
