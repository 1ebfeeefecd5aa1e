"""From gold answers to labelled twins: a faithful answer (PASS) and one that its document does not bear.

Twins share document, question and group, so they never part: not between splits, not between modes.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from data_pipeline.additions import Additions
from data_pipeline.perturb import Perturbation
from data_pipeline.perturb.verify import Rejected
from judge.types import Label, Sample

CHUNK = 16_384
"""Gold answers that wait at most while one among them is edited."""

Perturb = Callable[[Iterable[Sample]], Iterator[Perturbation | Rejected]]
"""A wrong answer for every gold sample, or the reason why there is none; in order, as a stream."""


@dataclass(frozen=True, slots=True)
class Twins:
    """What became of one gold answer: pairs of samples, hallucinated after faithful; or the reason for
    none."""

    gold: Sample
    samples: tuple[Sample, ...]
    dropped: str | None = None


def make_twins(
    golds: Iterable[Sample], perturb: Perturb, finder: Additions, edits: float, additions: float, seed: int
) -> Iterator[Twins]:
    """Make pairs of gold answers: an edited fact, an added sentence, or both kinds.

    Args:
        golds: samples whose answers are faithful.
        perturb: edits single facts.
        finder: adds sentences.
        edits: share of golds that get a pair with one edited fact.
        additions: share of golds that get a pair with an added sentence.
        seed: decides which.

    Yields:
        One a gold that is to get a pair, in order. ``meta["pair"]`` names the pair; the twin's ``meta`` holds
        ``edit_type``, ``change``, ``replaced``, ``inserted`` and ``from_document``. An answer that could
        not be edited makes no pair, rather than a faithful sample alone, so that the classes stay balanced.
    """
    stream = iter(golds)
    while chunk := list(islice(stream, CHUNK)):
        yield from _twins_of(chunk, perturb, finder, edits, additions, seed)


def _twins_of(
    golds: Sequence[Sample], perturb: Perturb, finder: Additions, edits: float, additions: float, seed: int
) -> Iterator[Twins]:
    waiting: deque[tuple[Sample, tuple[Sample, ...], bool]] = deque()

    def to_edit() -> Iterator[Sample]:
        for gold in golds:
            rng = random.Random(f"twin:{seed}:{gold.id}")
            wants_edit, wants_addition = rng.random() < edits, rng.random() < additions
            if wants_edit or wants_addition:
                waiting.append((gold, _with_addition(gold, finder) if wants_addition else (), wants_edit))
            if wants_edit:
                yield gold

    def without_edit() -> Iterator[Twins]:
        while waiting and not waiting[0][2]:
            gold, added, _ = waiting.popleft()
            yield Twins(gold, added, None if added else "no addition")

    for found in perturb(to_edit()):
        yield from without_edit()
        gold, added, _ = waiting.popleft()
        if isinstance(found, Rejected):
            yield Twins(gold, added, found.reason)
        else:
            yield Twins(gold, (*_with_edit(gold, found), *added))
    yield from without_edit()


def _with_addition(gold: Sample, finder: Additions) -> tuple[Sample, ...]:
    found = finder.find(gold)
    if found is None:
        return ()
    change = (
        f"文档没有提到“{found.foreign}”"
        if gold.language == "zh"
        else f"the document does not mention '{found.foreign}'"
    )
    edit = {
        "edit_type": "addition",
        "change": change,
        "replaced": found.supported,
        "inserted": found.foreign,
        "from_document": False,
    }
    return _pair(replace(gold, id=f"{gold.id}-long"), found.faithful, found.hallucinated, edit)


def _with_edit(gold: Sample, found: Perturbation) -> tuple[Sample, ...]:
    edit = {
        "edit_type": found.edit_type,
        "change": found.change,
        "replaced": found.replaced,
        "inserted": found.inserted,
        "from_document": found.from_document,
    }
    return _pair(gold, gold.answer, found.answer, edit)


def _pair(gold: Sample, faithful: str, hallucinated: str, edit: dict[str, Any]) -> tuple[Sample, Sample]:
    shared = {**gold.meta, "pair": gold.id}
    return (
        replace(gold, answer=faithful, label=Label.PASS, meta=shared),
        replace(gold, id=f"{gold.id}-twin", answer=hallucinated, label=Label.FAIL, meta={**shared, **edit}),
    )
