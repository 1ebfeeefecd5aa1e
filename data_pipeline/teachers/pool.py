"""The chat models of a build: loaded on first use, with one call cache and one budget for all."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

from data_pipeline.teachers.base import Ask
from data_pipeline.teachers.config import CallsConfig, TeacherConfig
from data_pipeline.teachers.llm import asking
from data_pipeline.teachers.local import LocalClient
from judge.remote.budget import Budget, Estimate
from judge.remote.cache import CallCache
from judge.remote.chat import ChatRequest, Reply
from judge.remote.client import ChatClient
from judge.remote.config import EndpointConfig, Prices

EVERY = 10.0
"""Seconds between two lines about the calls of a teacher."""

Run = Callable[[Iterable[ChatRequest]], Iterator[Reply]]
StandIn = Callable[[ChatRequest], str]
"""Says what to take for the reply to a request in a dry run."""


class Tally:
    """Counts one teacher's calls, tokens, cost and failed replies.

    Replies from the cache count like new ones, so a resumed build reports the same as an uninterrupted one.

    Args:
        name: the teacher's name.
        say: called from time to time with a line on progress and the cost of the run so far.
        budget: what the run has spent.
    """

    def __init__(self, name: str, say: Callable[[str], None], budget: Budget) -> None:
        self._name, self._say, self._budget = name, say, budget
        self._said = time.monotonic()
        self._cached = 0
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self.cost = 0.0
        self.problems: dict[str, int] = {}

    def count(self, replies: Iterator[Reply]) -> Iterator[Reply]:
        """Pass replies through and count them."""
        for reply in replies:
            self.calls += 1
            self.prompt_tokens += reply.usage.prompt_tokens
            self.completion_tokens += reply.usage.completion_tokens
            self.cost += reply.cost
            if reply.problem is not None:
                self.problems[reply.problem] = self.problems.get(reply.problem, 0) + 1
            self._cached += reply.cached
            if time.monotonic() - self._said > EVERY:
                self._said = time.monotonic()
                self._say(self._line())
            yield reply
        if self.calls:
            self._say(self._line())

    def _line(self) -> str:
        spent = self._budget.spent
        kinds = ", ".join(f"{count:,} {problem}" for problem, count in sorted(self.problems.items()))
        return (
            f"{self._name}: {self.calls:,} calls, {self._cached:,} from the cache, "
            f"{sum(self.problems.values()):,} without an answer{f' ({kinds})' if kinds else ''}; "
            f"spent so far {spent.tokens:,} tokens, {spent.cost:.4f}"
        )

    def table(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": round(self.cost, 6),
            "problems": dict(sorted(self.problems.items())),
        }


class ChatModels:
    """The chat models that a recipe names; a context manager.

    Args:
        teachers: their settings.
        calls: the call cache and the limits of a run.
        seed: the sampling seed.
        say: called from time to time with a progress line.
        stand_in: for a dry run: nobody is asked. Replies come from the cache or else from here, and
            ``estimates`` says by teacher what the requests would use.

    Raises:
        InputError: on first use, if an endpoint has no key, a model is unknown, or the cache file is not one.
    """

    def __init__(
        self,
        teachers: Iterable[TeacherConfig],
        calls: CallsConfig,
        seed: int,
        say: Callable[[str], None] = lambda _: None,
        stand_in: StandIn | None = None,
    ):
        self._settings = {teacher.name: teacher for teacher in teachers}
        self._calls, self._seed, self._say, self._stand_in = calls, seed, say, stand_in
        self._cache: CallCache | None = None
        self._asks: dict[str, Ask] = {}
        self.budget = Budget(calls.money, calls.tokens)
        self.tallies: dict[str, Tally] = {}
        self.estimates: dict[str, Estimate] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def ask(self, name: str) -> Ask:
        """The function that sends prompts to a chat model, by its name."""
        if name not in self._asks:
            settings = self._settings[name]
            tally = self.tallies[name] = Tally(name, self._say, self.budget)
            run = self._runner(settings)
            self._asks[name] = asking(
                lambda requests: tally.count(run(requests)),
                temperature=settings.temperature,
                max_tokens=settings.max_tokens,
                seed=self._seed,
            )
        return self._asks[name]

    @property
    def cache(self) -> CallCache:
        """The recipe's call cache, opened on first use."""
        if self._cache is None:
            self._cache = CallCache(Path(self._calls.cache))
        return self._cache

    def _runner(self, settings: TeacherConfig) -> Run:
        if self._stand_in is not None:
            # A model in this process costs nothing; its calls are cached under its name, like an endpoint's.
            free = EndpointConfig(model=settings.model or "none", prices=Prices(prompt=0, completion=0))
            client = ChatClient(settings.endpoint or free, name=settings.name, cache=self.cache)
            return partial(self._count, client, self._stand_in)
        if settings.endpoint is not None:
            return ChatClient(settings.endpoint, name=settings.name, cache=self.cache, budget=self.budget).run
        from judge.backends.transformers import TransformersBackend
        from judge.models.weights import load_model

        model = settings.model or ""
        backend = TransformersBackend(load_model(model, precision=settings.precision))
        return LocalClient(backend, f"{model} {backend.model.dtype}", self.cache, settings.name).run

    def _count(
        self, client: ChatClient, stand_in: StandIn, requests: Iterable[ChatRequest]
    ) -> Iterator[Reply]:
        """Add requests to the estimates; a reply in the cache leads to the same later calls as in a run."""
        for request in requests:
            one = client.estimate([request])
            before = self.estimates.get(client.name)
            self.estimates[client.name] = one if before is None else before + one
            text = stand_in(request)
            keys = () if request.schema is None else request.schema["properties"]
            yield client.cached(request) or Reply(text, parsed=dict.fromkeys(keys, text))

    def costs(self) -> dict[str, Any]:
        """Calls, cost and sampling of each chat model, for the manifest."""
        return {
            name: {**tally.table(), "sampling": {"temperature": self._settings[name].temperature}}
            for name, tally in sorted(self.tallies.items())
        }
