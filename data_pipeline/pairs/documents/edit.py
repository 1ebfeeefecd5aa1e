"""Rule-based edits of a document so that it no longer supports the answer, with a harmless counterpart."""

import random
from collections.abc import Iterator

from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.deletion import delete
from data_pipeline.pairs.documents.distractor import add_distractor
from data_pipeline.pairs.documents.passage import other_passage
from data_pipeline.pairs.documents.records import alter_record, change_places, values_of
from data_pipeline.pairs.documents.swap import swap
from data_pipeline.pairs.neighbours import Neighbours, kind_of
from data_pipeline.text.triples import Triple, triples_of
from judge.types import Sample

SWAPS_FIRST = 0.25
"""Share of gold answers for which swaps are tried first. Look-up solves swaps more easily than deletions."""
SHORTEST_PARAGRAPH = 80
"""Fewest characters of a paragraph that may serve as a distractor."""
MOST_SIBLINGS = 4
"""At most this many other answers about the same document are considered."""


class DocumentEditor:
    """Makes pairs of one answer and two documents, one of which no longer supports it.

    Args:
        neighbours: the other gold answers, whose documents give what is put into this one.
        seed: with the sample, decides which edit is tried first.
    """

    def __init__(self, neighbours: Neighbours, seed: int):
        self._neighbours = neighbours
        self._seed = seed
        self._pools: dict[tuple[str, ...], _Pool] = {}

    def __call__(self, gold: Sample) -> Iterator[Contrast]:
        """One edit of a gold answer's document; none if rules are not sure of one."""
        rng = random.Random(f"document:{self._seed}:{gold.id}")
        pool = self._pool(gold)
        siblings = sorted(self._neighbours.siblings(gold), key=lambda other: other.id)
        rng.shuffle(siblings)
        document = gold.document_text
        if triples_of(document):
            ways = [change_places(gold, pool.triples, rng), delete(gold, siblings[:MOST_SIBLINGS], rng)]
        else:
            ways = [delete(gold, siblings[:MOST_SIBLINGS], rng), swap(gold, rng)]
            if rng.random() < SWAPS_FIRST:
                ways.reverse()
            ways.insert(0, alter_record(gold, pool.values, rng))
            ways.append(self._other_passage(gold))
        for way in ways:
            for found in way:
                if found.hallucinated_document and found.faithful_document != found.hallucinated_document:
                    yield add_distractor(found, gold, pool.texts, rng) or found
                    return

    def _other_passage(self, gold: Sample) -> Iterator[Contrast]:
        """Replace the document. Tried last, since an entirely different document is easiest to spot; passages
        are looked for only then."""
        yield from other_passage(gold, self._neighbours.passages(gold))

    def _pool(self, gold: Sample) -> "_Pool":
        kind = kind_of(gold)
        if kind not in self._pools:
            golds = self._neighbours.pool(gold)
            self._pools[kind] = _Pool(sorted({other.document_text for other in golds}))
        return self._pools[kind]


class _Pool:
    """Material from the documents of one kind: paragraphs, triples and record values."""

    def __init__(self, texts: list[str]):
        found = {line for text in texts for line in text.split("\n") if len(line) >= SHORTEST_PARAGRAPH}
        self.texts = sorted(found)
        self.triples: list[Triple] = [triple for text in texts for triple in triples_of(text)]
        self.values = [value for text in texts for value in values_of(text)]
