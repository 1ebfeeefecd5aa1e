"""The cells of an audit: samples of one source, language and kind, of which a seeded choice is drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from data_pipeline.audit.limits import MIN_PAIRS
from data_pipeline.sources.store import SampleStore, pair_of, rank
from judge.types import Label, Sample

OTHERS = "others"
"""Name for pooled kinds or edit types that are too rare for a row of their own."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Labelled samples of one source, language and kind; or of the kinds that are rare there, pooled."""

    source: str
    language: str
    kinds: tuple[str, ...]
    samples: int
    pairs: int
    """The number of samples with the rarer label."""

    @property
    def kind(self) -> str:
        """The kind, or :data:`OTHERS` if several are pooled."""
        return self.kinds[0] if len(self.kinds) == 1 else OTHERS


def cells(store: SampleStore) -> Iterator[Cell]:
    """The cells sorted by name; kinds with too few pairs are pooled within their source and language."""
    query = """
        SELECT source, language, kind, SUM(label = 'PASS'), SUM(label = 'FAIL') FROM samples
        WHERE label IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    """
    rows = store.table.execute(query).fetchall()
    for (source, language), found in groupby(rows, key=itemgetter(0, 1)):
        kinds = [row[2:] for row in found]
        rare = [one for one in kinds if min(one[1:]) < MIN_PAIRS]
        own = [[one] for one in kinds if one not in rare]
        for pooled in [*own, rare] if rare else own:
            names, passes, fails = zip(*pooled, strict=True)
            yield Cell(source, language, names, sum(passes + fails), min(sum(passes), sum(fails)))


def draw(store: SampleStore, cell: Cell, limit: int, seed: int) -> list[Sample]:
    """About ``limit`` samples of a cell, of whole documents in a seeded random order.

    The choice of documents depends only on the seed and their names; the last one may exceed the limit. Pairs
    with a prompt injection are left out: an attack in an answer can be recognised without the document.
    """
    store.index("source", "language", "kind", "document")
    kinds = ", ".join("?" * len(cell.kinds))
    here = f"source = ? AND language = ? AND kind IN ({kinds}) AND label IS NOT NULL"
    values = (cell.source, cell.language, *cell.kinds)
    chosen = f"""
        SELECT document FROM (
            SELECT document, SUM(size) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) - size AS before FROM (
                SELECT document, COUNT(*) AS size, rank(?, document) AS place
                FROM samples WHERE {here} GROUP BY document
            )
        ) WHERE before < ?
    """  # noqa: S608 (our own conditions)
    where, name = f"{here} AND document IN ({chosen})", f"audit:{seed}"
    drawn = list(store.samples(where, (*values, name, *values, limit)))
    attacked = {pair_of(sample) for sample in drawn if "injection" in sample.meta}
    left = (sample for sample in drawn if pair_of(sample) not in attacked)
    return sorted(left, key=lambda sample: rank(name, sample.group))


def sample_pairs(samples: Sequence[Sample]) -> dict[str, tuple[Sample, Sample]]:
    """The pairs among samples, by name: the faithful and the hallucinated one."""
    faithful = {pair_of(s): s for s in samples if s.label is Label.PASS}
    return {
        pair_of(s): (faithful[pair_of(s)], s)
        for s in samples
        if s.label is Label.FAIL and pair_of(s) in faithful
    }
