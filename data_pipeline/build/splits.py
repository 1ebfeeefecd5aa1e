"""Splits by document: all samples about one document are in one split, so that nothing leaks between them."""

from collections.abc import Iterable
from typing import Literal

from data_pipeline.sources.store import SampleStore

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


def assign_splits(
    store: SampleStore, validation: float, test: float, seed: int, given: Iterable[tuple[str, str]] = ()
) -> None:
    """Assign every document (``Sample.group``), and so every sample, to a split.

    The shares hold within every stratum (source, language, domain) as closely as whole documents allow, and
    over all of them: the remainder of one stratum carries over to the next. Documents that differ only in
    case, punctuation or spacing get the same split, even if their source calls them two. The same set and
    seed give the same splits, regardless of the order of samples.

    Args:
        store: all samples of the data set.
        validation: share of documents for validation.
        test: share of documents for the test split.
        seed: decides which documents.
        given: documents that already have a split, and that split; the shares apply to the others.
    """
    table = store.table
    # A document may have samples of several strata; the first in alphabetical order counts.
    table.executescript(
        """
        DROP TABLE IF EXISTS documents;
        CREATE TEMP TABLE documents (
            document TEXT PRIMARY KEY, stratum TEXT, place TEXT, split TEXT, given INTEGER NOT NULL DEFAULT 0
        )
        """
    )
    table.execute(
        """
        INSERT INTO documents (document, stratum, place, split)
        SELECT document, MIN(source || char(31) || language || char(31) || domain), rank(?, document), 'train'
        FROM samples GROUP BY document
        """,
        (f"split:{seed}",),
    )
    table.executemany("UPDATE documents SET given = 1, split = ?2 WHERE document = ?1", given)
    table.execute("CREATE INDEX by_stratum ON documents (given, stratum, place)")
    due: dict[Split, float] = {"validation": 0.0, "test": 0.0}
    shares: tuple[tuple[Split, float], ...] = (("test", test), ("validation", validation))
    strata = table.execute(
        "SELECT stratum, COUNT(*) FROM documents WHERE NOT given GROUP BY stratum ORDER BY stratum"
    )
    for stratum, size in strata.fetchall():
        start = 0
        for split, share in shares:
            due[split] += share * size
            count = min(round(due[split]), size - start)
            due[split] -= count
            table.execute(
                """
                UPDATE documents SET split = ? WHERE document IN
                (SELECT document FROM documents WHERE NOT given AND stratum = ?
                 ORDER BY place LIMIT ? OFFSET ?)
                """,
                (split, stratum, count, start),
            )
            start += count
    _join_copies(store)
    table.execute(
        "UPDATE samples SET split = (SELECT split FROM documents WHERE documents.document = samples.document)"
    )


def copies(*stores: SampleStore) -> list[set[str]]:
    """Names of one document: it stands in several sources, or twice in one, with the same letters and digits.

    A group with several versions of its document joins the copies of each version.
    """
    from scipy.cluster.hierarchy import DisjointSet

    names: dict[bytes, str] = {}
    joined = DisjointSet()
    for store in stores:
        for text, document in store.table.execute("SELECT DISTINCT text, document FROM samples"):
            known = names.setdefault(text, document)
            if known != document:
                joined.add(known)
                joined.add(document)
                joined.merge(known, document)
    return joined.subsets()


def _join_copies(store: SampleStore) -> None:
    """Give all copies of a document one split: a given one, else that of the first copy by name."""
    for names in copies(store):
        found = [
            store.table.execute(
                "SELECT NOT given, document, split FROM documents WHERE document = ?", (name,)
            ).fetchone()
            for name in names
        ]
        split = min(found)[2]
        store.table.executemany(
            "UPDATE documents SET split = ? WHERE document = ? AND NOT given",
            [(split, name) for name in names],
        )
