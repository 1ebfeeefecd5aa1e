"""From gold answers to labelled twins: a faithful answer (PASS) and one that its document does not bear.

Twins share question and group, so they never part: not between splits, not between modes. They share the
document and differ in the answer, or share the answer and differ in the document.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from data_pipeline.additions import Additions
from data_pipeline.documents import edit_document
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


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of gold answers that get a pair of each kind: an edited fact, an added sentence, an edited
    document."""

    edits: float
    additions: float
    documents: float = 0.0


def make_twins(
    golds: Iterable[Sample], perturb: Perturb, finder: Additions, shares: Shares, seed: int
) -> Iterator[Twins]:
    """Make pairs of gold answers: with an edited fact, an added sentence, an edited document, or several.

    Args:
        golds: samples whose answers are faithful.
        perturb: edits single facts.
        finder: adds sentences.
        shares: how many golds get which kind of pair.
        seed: decides which.

    Yields:
        One a gold that is to get a pair, in order. ``meta["pair"]`` names the pair; the twin's ``meta`` holds
        ``edit_type``, ``change``, ``replaced``, ``inserted`` and ``from_document``. An answer that could
        not be edited makes no pair, rather than a faithful sample alone, so that the classes stay balanced.
    """
    stream = iter(golds)
    while chunk := list(islice(stream, CHUNK)):
        yield from _twins_of(chunk, perturb, finder, shares, seed)


def _twins_of(
    golds: Sequence[Sample], perturb: Perturb, finder: Additions, shares: Shares, seed: int
) -> Iterator[Twins]:
    waiting: deque[tuple[Sample, tuple[Sample, ...], bool]] = deque()

    def to_edit() -> Iterator[Sample]:
        for gold in golds:
            rng = random.Random(f"twin:{seed}:{gold.id}")
            wants_edit, wants_addition = rng.random() < shares.edits, rng.random() < shares.additions
            wants_document = rng.random() < shares.documents
            if wants_edit or wants_addition or wants_document:
                others = _with_addition(gold, finder) if wants_addition else ()
                others += _with_document(gold, seed) if wants_document else ()
                waiting.append((gold, others, wants_edit))
            if wants_edit:
                yield gold

    def without_edit() -> Iterator[Twins]:
        while waiting and not waiting[0][2]:
            gold, others, _ = waiting.popleft()
            yield Twins(gold, others, None if others else _why_none(shares))

    for found in perturb(to_edit()):
        yield from without_edit()
        gold, others, _ = waiting.popleft()
        if isinstance(found, Rejected):
            yield Twins(gold, others, found.reason)
        else:
            yield Twins(gold, (*_with_edit(gold, found), *others))
    yield from without_edit()


def _why_none(shares: Shares) -> str:
    """Why a gold answer that no fact was to be edited of has no pair."""
    wanted = {"no addition": shares.additions, "no safe edit of the document": shares.documents}
    return ", ".join(reason for reason, share in wanted.items() if share)


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


def _with_document(gold: Sample, seed: int) -> tuple[Sample, ...]:
    """The same answer to two documents."""
    found = edit_document(gold, seed)
    if found is None:
        return ()
    edit = {
        "edit_type": found.edit_type,
        "change": found.change,
        "replaced": found.replaced,
        "inserted": found.inserted,
        "from_document": False,
    }
    faithful, hallucinated = _pair(replace(gold, id=f"{gold.id}-document"), gold.answer, gold.answer, edit)
    return replace(faithful, document=found.faithful), replace(hallucinated, document=found.hallucinated)


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
