"""From gold answers to contrast pairs: a faithful sample and one that its document does not support.

The two samples of a pair share question and group, so splits and modes keep them together. They have the same
document and different answers, or the same answer and different documents.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.pairs.contrast import Contrast, Maker, pairs
from data_pipeline.sources.kinds import KINDS
from judge.types import Sample

CHUNK = 16_384
"""At most this many gold answers wait while one of them is edited."""
_DRAWN = (*KINDS[:3], "near_miss", *KINDS[3:])
"""The kinds in the order they are drawn. A former kind keeps its draw, so that the others still fall on the
same answers."""

Perturb = Callable[[Iterable[Sample]], Iterator[Edit | Rejected]]
"""Streams a wrong answer for every gold sample, in order, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class GoldPairs:
    """The pairs made from one gold answer; in ``samples``, each faithful one precedes its hallucinated one.

    ``asked`` lists the kinds of pairs it should get, ``made`` the kinds it got, and ``dropped`` says why it
    got none at all.
    """

    gold: Sample
    samples: tuple[Sample, ...]
    asked: tuple[str, ...]
    dropped: str | None = None

    @property
    def made(self) -> tuple[str, ...]:
        """The kinds of the pairs."""
        return tuple(dict.fromkeys(str(sample.meta["kind"]) for sample in self.samples))


def make_pairs(
    golds: Iterable[Sample],
    perturb: Perturb,
    makers: Mapping[str, Maker],
    shares: Mapping[str, float],
    seed: int,
) -> Iterator[GoldPairs]:
    """Make pairs of one or several kinds from gold answers.

    Args:
        golds: samples whose answers are faithful.
        perturb: edits single facts, for pairs of kind ``edit``.
        makers: make the other kinds.
        shares: for each kind (see :data:`KINDS`), the share of gold answers that should get a pair.
        seed: decides which gold answers get which kinds.

    Yields:
        One result per gold answer that should get a pair, in order. If no pair can be made, the result has no
        samples, not even the faithful one, so that the classes stay balanced.
    """
    stream = iter(golds)
    while chunk := list(islice(stream, CHUNK)):
        yield from _pairs_of(chunk, perturb, makers, shares, seed)


def _pairs_of(
    golds: Sequence[Sample],
    perturb: Perturb,
    makers: Mapping[str, Maker],
    shares: Mapping[str, float],
    seed: int,
) -> Iterator[GoldPairs]:
    waiting: deque[tuple[Sample, tuple[Sample, ...], tuple[str, ...]]] = deque()

    def to_edit() -> Iterator[Sample]:
        for gold in golds:
            rng = random.Random(f"twin:{seed}:{gold.id}")
            asked = tuple(kind for kind in _DRAWN if rng.random() < shares.get(kind, 0.0))
            if not asked:
                continue
            others = (pairs(gold, kind, makers[kind](gold)) for kind in asked if kind != "edit")
            waiting.append((gold, tuple(sample for pair in others for sample in pair), asked))
            if "edit" in asked:
                yield gold

    def without_edit() -> Iterator[GoldPairs]:
        while waiting and "edit" not in waiting[0][2]:
            gold, others, asked = waiting.popleft()
            yield GoldPairs(gold, others, asked, None if others else f"no pair of kind {', '.join(asked)}")

    for found in perturb(to_edit()):
        yield from without_edit()
        gold, others, asked = waiting.popleft()
        if isinstance(found, Rejected):
            reason = found.reason if len(asked) == 1 else f"{found.reason}, nor a pair of another kind"
            yield GoldPairs(gold, others, asked, None if others else reason)
        else:
            yield GoldPairs(gold, (*pairs(gold, "edit", [_edited(found)]), *others), asked)
    yield from without_edit()


def _edited(found: Edit) -> Contrast:
    return Contrast(
        edit_type=found.edit_type,
        change=found.change,
        replaced=found.replaced,
        inserted=found.inserted,
        from_document=found.from_document,
        hallucinated=found.answer,
    )


def new_pairs(samples: Sequence[Sample], seen: set[bytes]) -> Iterator[Sample]:
    """Drop pairs whose hallucinated sample is a duplicate; those kept are added to ``seen``.

    Two gold answers about one document may lead to the same long answer or the same wrong one.
    """
    for faithful, hallucinated in zip(samples[::2], samples[1::2], strict=True):
        text = "\0".join((hallucinated.document_text, hallucinated.question, hallucinated.answer))
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
        if key not in seen:
            seen.add(key)
            yield from (faithful, hallucinated)


class PairYield:
    """Counts, per source, how many gold answers got the pairs they should get."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def count(self, found: Iterable[GoldPairs]) -> Iterator[GoldPairs]:
        """Pass results through and count them."""
        for result in found:
            counts = self._counts.setdefault(result.gold.source, Counter())
            counts["golds"] += 1
            counts["with a pair"] += bool(result.samples)
            counts.update(f"{kind} asked" for kind in result.asked)
            counts.update(f"{kind} made" for kind in result.made)
            yield result

    def table(self) -> dict[str, dict[str, int]]:
        """By source: ``golds``, ``with a pair``, and for each kind how many were ``asked`` and ``made``."""
        order = ["golds", "with a pair", *(f"{kind} {what}" for kind in KINDS for what in ("asked", "made"))]
        return {
            source: {name: counts[name] for name in order if name in counts}
            for source, counts in sorted(self._counts.items())
        }
