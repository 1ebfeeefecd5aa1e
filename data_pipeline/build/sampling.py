"""Draws a smaller set of whole pairs, with given shares of kinds, weights of sources and a cap for them."""

from collections.abc import Callable, Mapping
from math import floor
from typing import Any

from data_pipeline.build.mix import Allotment, Cell, allot
from data_pipeline.config import MixConfig
from data_pipeline.sources.store import SampleStore
from judge.errors import InputError, unknown

# Pairs and single samples, ordered within their kind and source: by the seed, and so that every prefix
# holds as many PASS as FAIL as long as both last.
_PAIRS = """
CREATE TEMP TABLE pairs AS
WITH units AS (
    SELECT pair, MIN(kind) AS kind, MIN(source) AS source, COUNT(*) AS size, rank(:seed, pair) AS place,
        CASE WHEN MIN(label) = MAX(label) THEN MIN(label) ELSE 'both' END AS side
    FROM samples GROUP BY pair
),
numbered AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY kind, source, side ORDER BY place) AS number,
        SUM(side = 'both') OVER cell AS both,
        MIN(SUM(side = 'PASS') OVER cell, SUM(side = 'FAIL') OVER cell) AS balanced
    FROM units WINDOW cell AS (PARTITION BY kind, source)
),
ordered AS (
    SELECT *, CASE
        WHEN side = 'both' THEN (number - 0.5) / both
        WHEN number <= balanced THEN (number - 0.5) / balanced
        ELSE number END AS turn
    FROM numbered
)
SELECT pair, kind, source, size, 0 AS kept,
    SUM(size) OVER (PARTITION BY kind, source ORDER BY turn, side, place ROWS UNBOUNDED PRECEDING) AS so_far
FROM ordered
"""

SLACK = 0.01
"""A mix may miss its target by this share of the samples, and a pair or so, without a note."""


def draw(
    store: SampleStore, config: MixConfig, seed: int, note: Callable[[str, str], None] = lambda *_: None
) -> dict[str, Any]:
    """Keep the samples of a mix, and drop the others.

    Pairs stay together. The seed and the names of pairs decide which ones stay.

    Args:
        store: samples with labels.
        config: the mix that the recipe asks for.
        seed: decides which pairs stay.
        note: called with a reason and the id of each sample that is dropped.

    Returns:
        For the manifest: what was asked for and what was drawn, by kind and source.

    Raises:
        InputError: if a source with a weight has no samples.
    """
    known = store.counts("source")
    for name in config.sources:
        if name not in known:
            raise InputError(unknown("source", name, list(known)), field="mix.sources")
    _number_pairs(store, seed)
    there = {
        (kind, source): count
        for kind, source, count in store.table.execute(
            "SELECT kind, source, SUM(size) FROM pairs GROUP BY kind, source ORDER BY kind, source"
        )
    }
    plan = allot(there, config)
    drawn = _keep(store, plan)
    left_out = "pair IN (SELECT pair FROM pairs WHERE NOT kept)"
    for name in store.ids(left_out):
        note("not drawn", name)
    store.drop(left_out)
    return _record(there, drawn, plan, config)


def _number_pairs(store: SampleStore, seed: int) -> None:
    store.table.execute("DROP TABLE IF EXISTS pairs")
    store.table.execute(_PAIRS, {"seed": f"draw:{seed}"})
    store.table.execute("CREATE INDEX by_cell ON pairs (kind, source, so_far)")


def _keep(store: SampleStore, plan: Allotment) -> dict[Cell, int]:
    """Mark the pairs that stay; a remainder too small for a pair carries over to the kind's next source."""
    room = {source: floor(plan.most * plan.total + 1e-4) for _, source in plan.cells}
    drawn: dict[Cell, int] = {}
    over, last = 0.0, None
    for (kind, source), wanted in sorted(plan.cells.items()):
        over = over if kind == last else 0.0
        most = min(wanted + over, room[source])
        place = (kind, source, most + 1e-4)
        store.table.execute("UPDATE pairs SET kept = 1 WHERE kind = ? AND source = ? AND so_far <= ?", place)
        query = "SELECT COALESCE(MAX(so_far), 0) FROM pairs WHERE kind = ? AND source = ? AND so_far <= ?"
        drawn[kind, source] = int(store.table.execute(query, place).fetchone()[0])
        room[source] -= drawn[kind, source]
        over, last = wanted + over - drawn[kind, source], kind
    return drawn


def _record(
    there: Mapping[Cell, int], drawn: Mapping[Cell, int], plan: Allotment, config: MixConfig
) -> dict[str, Any]:
    total = sum(drawn.values())

    def rows(column: int) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for cell, count in there.items():
            row = found.setdefault(cell[column], {"there": 0, "samples": 0})
            row["there"] += count
            row["samples"] += drawn.get(cell, 0)
        for row in found.values():
            row["share"] = round(row["samples"] / total, 4) if total else 0.0
        return dict(sorted(found.items()))

    kinds, sources = rows(0), rows(1)
    for name, share in (config.kinds or {}).items():
        row = kinds.setdefault(name, {"there": 0, "samples": 0, "share": 0.0})
        row["asked"] = round(share / sum((config.kinds or {}).values()), 4)
    record = {"asked": config.samples, "samples": total, "kinds": kinds, "sources": sources}
    return {**record, "notes": _notes(record, plan, config)}


def _notes(record: Mapping[str, Any], plan: Allotment, config: MixConfig) -> list[str]:
    """How a mix differs from what was asked for."""
    notes, total = [], record["samples"]
    if plan.most > config.max_source:
        count = round(1 / plan.most)
        notes.append(
            f"max_source {config.max_source:.0%} is impossible with {count} sources; {plan.most:.0%} is"
        )
    if total < (1 - SLACK) * record["asked"] - 2 * len(record["kinds"]):
        why = (
            "no source may give more than its share" if config.max_source < 1 else "the sources have no more"
        )
        notes.append(f"{total:,} samples instead of {record['asked']:,}: {why}")
    for name, row in record["kinds"].items():
        if "asked" in row and row["samples"] < (row["asked"] - SLACK) * total - 2:
            notes.append(
                f"{name}: {row['share']:.1%} instead of {row['asked']:.1%}, of {row['there']:,} samples"
            )
    return notes
