"""Decides which samples get a row in which mode: a seeded share of the pairs, always both samples."""

from data_pipeline.build.splits import SPLITS
from data_pipeline.config import ModesConfig
from data_pipeline.sources.store import SampleStore
from judge.types import MODES


def assign_modes(store: SampleStore, config: ModesConfig, seed: int) -> None:
    """Mark the samples that get rows in each mode, in every split but ``test``."""
    store.index("split", "pair")
    for split in SPLITS:
        pairs = store.pairs(split)
        for mode in MODES:
            wanted = round(getattr(config, mode) * pairs) if split != "test" else 0
            store.table.execute(
                f"""
                UPDATE samples SET {mode} = 1 WHERE split = ?1 AND pair IN (
                    SELECT pair FROM (SELECT DISTINCT pair FROM samples WHERE split = ?1)
                    ORDER BY rank(?2, pair) LIMIT ?3
                )
                """,  # noqa: S608 (the two modes)
                (split, f"mode:{mode}:{seed}", wanted),
            )
    store.drop_index("split", "pair")  # or SQLite would read whole rows by it, and sort them again
