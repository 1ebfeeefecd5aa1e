"""Which samples get a row in which mode: a seeded share of the pairs, their samples always together."""

from data_pipeline.build.splits import SPLITS
from data_pipeline.config import ModesConfig
from data_pipeline.sources.store import SampleStore
from judge.types import MODES


def assign_modes(store: SampleStore, config: ModesConfig, seed: int) -> None:
    """Mark the samples that a recipe wants rows of, in every split but ``test``."""
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
    store.drop_index("split", "pair")  # whole rows would be read by it, out of their order, and sorted again
