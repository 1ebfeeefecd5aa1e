"""Makes rule-based pairs in several processes, with the same result, in the same order, as in one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.pairs.contrast import Maker
from data_pipeline.pairs.make import GoldPairs, Perturb, make_pairs
from data_pipeline.pairs.makers import make_makers
from data_pipeline.sources.store import SampleStore
from data_pipeline.sources.workers import Workers
from data_pipeline.teachers.rules import RulesTeacher
from judge.types import Sample

RUN = 24
"""Gold answers that a process takes at a time; more if they are about the same document."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What pairs depend on besides their gold: the file with all golds, and keys of the recipe."""

    golds: Path
    seed: int
    edit_types: tuple[str, ...]
    from_document: float
    shares: tuple[tuple[str, float], ...]


def pairs_together(golds: Iterable[Sample], plan: Plan, workers: Workers) -> Iterator[GoldPairs]:
    """The result of :func:`~data_pipeline.pairs.make.make_pairs`, computed in several processes.

    Args:
        golds: samples whose answers are faithful.
        plan: its table of golds must be committed, and must not change meanwhile.
        workers: two or more processes.
    """
    for made in workers.map(partial(_pairs, plan), _runs(golds), few=0, batch=1):
        yield from made


def _runs(golds: Iterable[Sample]) -> Iterator[list[Sample]]:
    """Batches of consecutive golds; golds about one text stay together, so that it is read once."""
    run: list[Sample] = []
    for gold in golds:
        if len(run) >= RUN and gold.document_text != run[-1].document_text:
            yield run
            run = []
        run.append(gold)
    if run:
        yield run


def _pairs(plan: Plan, golds: list[Sample]) -> list[GoldPairs]:
    perturb, makers = _tools(plan)
    return list(make_pairs(golds, perturb, makers, dict(plan.shares), plan.seed))


@lru_cache(maxsize=1)
def _tools(plan: Plan) -> tuple[Perturb, Mapping[str, Maker]]:
    """The perturber and the makers of pairs, cached in each process with the documents they have read."""
    perturber = RulePerturber(plan.seed, plan.edit_types, plan.from_document)
    return RulesTeacher(perturber).perturb, make_makers(SampleStore.reader(plan.golds), plan.seed)
