"""Drawing a smaller set whose make-up is known: so many samples, by strata, twins always together."""

from collections.abc import Iterator

from data_pipeline.config import SamplingConfig
from data_pipeline.store import SampleStore


def draw(store: SampleStore, config: SamplingConfig, seed: int) -> Iterator[str]:
    """Keep at most ``config.samples`` samples and drop the others; yields the ids of those.

    The unit is the pair of twins; its stratum is made of the columns in ``config.by``, where a pair's edit
    type and label are those of its hallucinated twin. Which pairs of a stratum stay is decided by the seed,
    whatever else there is.
    """
    table = store.table
    # A faithful twin has no edit type, and PASS sorts after FAIL: MAX and MIN find the hallucinated twin's.
    parts = {"edit_type": "MAX(COALESCE(edit_type, ''))", "label": "MIN(COALESCE(label, ''))"}
    stratum = " || char(31) || ".join(parts.get(column, f"MIN({column})") for column in config.by) or "''"
    table.executescript(
        """
        DROP TABLE IF EXISTS pairs;
        CREATE TEMP TABLE pairs (pair TEXT PRIMARY KEY, size INTEGER, stratum TEXT, place TEXT, kept INTEGER)
        """
    )
    table.execute(
        f"INSERT INTO pairs SELECT pair, COUNT(*), {stratum}, rank(?, pair), 0 FROM samples GROUP BY pair",  # noqa: S608
        (f"draw:{seed}",),
    )
    table.execute("CREATE INDEX by_place ON pairs (stratum, place)")
    sizes: dict[str, int] = dict(
        table.execute("SELECT stratum, SUM(size) FROM pairs GROUP BY stratum ORDER BY stratum")
    )
    for name, wanted in allot(sizes, config.samples, even=config.even).items():
        table.execute(
            """
            UPDATE pairs SET kept = 1 WHERE pair IN (
                SELECT pair FROM
                (SELECT pair, SUM(size) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) AS so_far
                 FROM pairs WHERE stratum = ?)
                WHERE so_far <= ?
            )
            """,
            (name, wanted),
        )
    left_out = "pair IN (SELECT pair FROM pairs WHERE NOT kept)"
    yield from store.ids(left_out)
    store.drop(left_out)


def allot(sizes: dict[str, int], total: int, *, even: bool) -> dict[str, int]:
    """How many samples each stratum gives: as many each, or by its share; never more than it has.

    Evenly, what a small stratum cannot give is shared out among the larger ones. By share, the largest
    remainders are rounded up; of equal ones, the first by name.
    """
    left = total = min(total, sum(sizes.values()))
    allotted: dict[str, int] = {}
    if even:
        for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
            allotted[name] = min(sizes[name], left // (len(sizes) - place))
            left -= allotted[name]
        return allotted
    whole = sum(sizes.values())
    for name, size in sizes.items():
        allotted[name] = total * size // whole
        left -= allotted[name]
    for name in sorted(sizes, key=lambda name: (-(total * sizes[name] % whole), name))[:left]:
        allotted[name] += 1
    return allotted
