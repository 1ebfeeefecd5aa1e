"""Estimates the calls of a build to its teachers, and their cost, without making any.

The whole build runs, into a temporary folder. Where later calls depend on a teacher's reply, the rules stand
in for it: they perturb as many answers as they can, and later calls are counted for these.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig
from data_pipeline.edits.edit import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.teachers.base import Ask, Judgement, Teacher, ask_each
from data_pipeline.teachers.config import CallsConfig, TeacherConfig
from data_pipeline.teachers.pool import ChatModels, Run
from data_pipeline.teachers.prompts.judgement import judgement_prompt
from data_pipeline.teachers.prompts.perturbation import perturbation_prompt
from judge.remote.budget import Estimate
from judge.remote.cache import CallCache
from judge.remote.chat import ChatRequest, Reply
from judge.remote.client import ChatClient
from judge.remote.config import EndpointConfig, Prices
from judge.types import Sample


def dry_run(config: DataConfig) -> dict[str, Estimate]:
    """Estimate the calls, tokens and price of a build, by teacher; cached replies cost nothing.

    Raises:
        InputError: as the build itself would.
    """
    with TemporaryDirectory() as folder:
        changed = config.model_copy(update={"output": folder})
        teachers = CountingTeachers(changed)
        build(changed, teachers=teachers)
    return teachers.estimates


class CountingTeachers(Teachers):
    """Teachers that count the requests, and reply from the cache or else with filler text."""

    def __init__(self, config: DataConfig):
        super().__init__(config)
        self.estimates: dict[str, Estimate] = {}

    def get(self, name: str) -> Teacher:
        """See :meth:`Teachers.get`."""
        rules = super().get("rules")
        if name == "rules":
            return rules
        return _StandIn(rules, self.ask(name))

    def _runner(self, settings: TeacherConfig) -> Run:
        counterfactuals = self.config.counterfactuals
        text = " ".join(["word"] * (counterfactuals.length if counterfactuals is not None else 50))
        return counting_run(settings, self.cache, self.estimates, lambda request: said(request, text))


class CountingModels(ChatModels):
    """Chat models that count the requests, and reply from the cache or else by a stand-in.

    Args:
        teachers: their settings.
        calls: the call cache.
        seed: for sampled replies.
        stand_in: replies to requests that are not in the cache.
    """

    def __init__(
        self,
        teachers: Iterable[TeacherConfig],
        calls: CallsConfig,
        seed: int,
        stand_in: Callable[[ChatRequest], Reply],
    ):
        super().__init__(teachers, calls, seed)
        self._stand_in = stand_in
        self.estimates: dict[str, Estimate] = {}

    def _runner(self, settings: TeacherConfig) -> Run:
        return counting_run(settings, self.cache, self.estimates, self._stand_in)


def counting_run(
    settings: TeacherConfig,
    cache: CallCache,
    estimates: dict[str, Estimate],
    stand_in: Callable[[ChatRequest], Reply],
) -> Run:
    """A runner that adds the requests to ``estimates``, by teacher, and replies without asking anyone.

    What the cache holds is the reply, so that calls which depend on it are found there too; else a stand-in
    replies.
    """
    # A model in this process costs nothing; its calls are cached under its name, like an endpoint's.
    free = EndpointConfig(model=settings.model or "none", prices=Prices(prompt=0, completion=0))
    client = ChatClient(settings.endpoint or free, name=settings.name, cache=cache)

    def run(requests: Iterable[ChatRequest]) -> Iterator[Reply]:
        for request in requests:
            one = client.estimate([request])
            before = estimates.get(settings.name)
            estimates[settings.name] = one if before is None else before + one
            yield client.cached(request) or stand_in(request)

    return run


def said(request: ChatRequest, text: str) -> Reply:
    """A reply of this text, repeated under every key of the request's schema."""
    properties = request.schema["properties"] if request.schema is not None else ()
    return Reply(text, parsed=dict.fromkeys(properties, text))


@dataclass(frozen=True)
class _StandIn:
    """Sends each request to be counted, and returns what the rules say."""

    rules: Teacher
    ask: Ask

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        for gold, _ in ask_each(golds, perturbation_prompt, self.ask):
            yield from self.rules.perturb([gold])

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        for sample, _ in ask_each(samples, judgement_prompt, self.ask):
            yield from self.rules.judge([sample])
