"""Sources that give a stated number of samples to each split, half of them hallucinated.

Example: Lynx's data has 600 samples for training and 200 for validation from each of four sets (section
3.3). Samples dropped by rules, the leak gate, a perturber or a reasoner are replaced from the same source,
until the number is reached or the source is used up.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from data_pipeline.build.splits import SPLITS, Split, copies
from data_pipeline.config import DataConfig
from data_pipeline.labels.rows import gold_label
from data_pipeline.sources.config import SizesConfig
from data_pipeline.sources.store import SampleStore
from judge.types import Label, Sample

Make = Callable[[Iterable[Sample]], Iterator[list[Sample]]]
"""Maps golds to the samples of their pairs, hallucinated after faithful; empty if no pair could be made."""


def _in_turns(stratum: str, place: str, then: str) -> str:
    """SQL of an order in which strata take turns: by each row's relative place (0 to 1) in its stratum, so
    that every prefix holds all strata in proportion."""
    strata = f"PARTITION BY {stratum}"
    return f"(ROW_NUMBER() OVER ({strata} ORDER BY {place}) - 0.5) / COUNT(*) OVER ({strata}), {then}"


_STRATUM = "source || char(31) || language || char(31) || domain"

_GOLDS = _in_turns("source, language, domain", "rank(?, id)", "id")

_DOCUMENTS = f"""
WITH documents AS (
    SELECT document, COUNT(*) AS size, MIN({_STRATUM}) AS stratum, rank(?, document) AS place
    FROM samples WHERE entry = ? GROUP BY document
)
SELECT document, size FROM documents ORDER BY {_in_turns("stratum", "place", "document")}
"""  # noqa: S608 (our own texts)

_UNITS = f"""
WITH units AS (
    SELECT pair, SUM(label = 'PASS') AS passes, SUM(label = 'FAIL') AS fails, rank(?, pair) AS place,
        MIN({_STRATUM} || char(31) || label) AS stratum
    FROM samples WHERE entry = ? AND split = ? GROUP BY pair
)
SELECT pair, passes, fails FROM units ORDER BY {_in_turns("stratum", "place", "pair")}
"""  # noqa: S608


def sized(config: DataConfig) -> dict[int, SizesConfig]:
    """The sizes of the sources that have one, by their index in the recipe."""
    return {
        entry: source.samples for entry, source in enumerate(config.sources) if source.samples is not None
    }


def share_out(stores: Sequence[SampleStore], sizes: Mapping[int, SizesConfig], seed: int) -> dict[str, Split]:
    """Assign the documents of sources with a size to splits, in proportion to the sizes of the splits.

    Documents come in a seeded order in which strata (source, language, domain) take turns. Each goes to the
    split that has the smallest share of its size so far, and takes its copies along.
    """
    first_names = {name: min(names) for names in copies(*stores) for name in names}
    given: dict[str, Split] = {}
    for store in stores:
        for entry, size in sizes.items():
            asked = {split: count for split in SPLITS if (count := size.of(split))}
            there = dict.fromkeys(asked, 0)
            for document, count in store.table.execute(_DOCUMENTS, (f"size:{seed}", entry)).fetchall():
                next_split = min(asked, key=lambda name: there[name] / asked[name])
                split = given.setdefault(first_names.get(document, document), next_split)
                given[document] = split
                if split in there:
                    there[split] += count
    return given


def draw_labelled(
    store: SampleStore,
    sizes: Mapping[int, SizesConfig],
    seed: int,
    note: Callable[[str, str], None] = lambda *_: None,
) -> None:
    """Keep as many PASS and FAIL samples of labelled sources as each split asks for, and drop the others.

    Pairs, and the options of a question, stay together. Splits must have been assigned.
    """
    for entry, size in sizes.items():
        store.table.execute("CREATE TEMP TABLE chosen (pair TEXT PRIMARY KEY)")
        for split in SPLITS:
            passes, fails = (size.of(split) + 1) // 2, size.of(split) // 2
            units = store.table.execute(_UNITS, (f"size:{seed}", entry, split)).fetchall()
            for pair, more_passes, more_fails in units:
                if more_passes <= passes and more_fails <= fails:
                    passes, fails = passes - more_passes, fails - more_fails
                    store.table.execute("INSERT INTO chosen VALUES (?)", (pair,))
        others = "entry = ? AND pair NOT IN (SELECT pair FROM chosen)"
        for name in store.ids(others, (entry,)):
            note("not drawn", name)
        store.drop(others, (entry,))
        store.table.execute("DROP TABLE chosen")


class Filler:
    """Fills the splits of a perturbed source from its golds, and can add more samples later.

    As in the papers, half of the golds give a faithful sample and the others a hallucinated one (Lynx, 3.3;
    Bi'an, 2.2), or each gives both (``pairs``). Golds are perturbed only as samples are missing.

    Args:
        golds: golds with their splits.
        make: makes the pairs of golds.
        entry: the source's index in the recipe.
        size: the number of samples for each split.
        seed: decides the order of golds.
    """

    def __init__(self, golds: SampleStore, make: Make, entry: int, size: SizesConfig, seed: int):
        self._make, self._size = make, size
        self._left = {split: golds.count("entry = ? AND split = ?", (entry, split)) for split in SPLITS}
        self._queues = {
            split: golds.samples("entry = ? AND split = ?", (entry, split, f"size:{seed}"), order=_GOLDS)
            for split in SPLITS
        }

    def fill(self) -> Iterator[Sample]:
        """The samples for every split; if the number is odd, one more is faithful."""
        for split in SPLITS:
            number = self._size.of(split)
            yield from self.take(split, Counter({Label.PASS: (number + 1) // 2, Label.FAIL: number // 2}))

    def take(self, split: Split, missing: Counter[Label]) -> Iterator[Sample]:
        """The missing number of samples of each label, from unused golds, until the source is used up."""
        yield from (self._together if self._size.pairs else self._apart)(split, missing)

    def _together(self, split: Split, missing: Counter[Label]) -> Iterator[Sample]:
        while missing.total() and (some := self._next(split, max(missing.values()))):
            for sample in chain.from_iterable(self._make(some)):
                if sample.label is not None and missing[sample.label]:
                    missing[sample.label] -= 1
                    yield sample

    def _apart(self, split: Split, missing: Counter[Label]) -> Iterator[Sample]:
        """Hallucinated samples first, then as many faithful ones, so that a source that runs out early
        has given about the same number of both."""
        while missing.total() and self._left[split]:
            tried = self._next(split, min(missing[Label.FAIL], max(self._left[split] // 2, 1)))
            before = missing[Label.FAIL]
            for samples in self._make(tried):
                if samples:
                    missing[Label.FAIL] -= 1
                    yield _hallucinated_alone(*samples[:2])
            wanted = before - missing[Label.FAIL] if missing[Label.FAIL] else missing[Label.PASS]
            for gold in self._next(split, min(wanted, missing[Label.PASS])):
                missing[Label.PASS] -= 1
                yield _alone(gold)

    def _next(self, split: Split, count: int) -> list[Sample]:
        found = list(islice(self._queues[split], count))
        self._left[split] -= len(found)
        return found


def _alone(gold: Sample) -> Sample:
    """A gold answer as a single faithful sample."""
    return replace(gold, label=Label.PASS, meta={**gold.meta, "pair": gold.id, "kind": "edit"})


def _hallucinated_alone(faithful: Sample, wrong: Sample) -> Sample:
    """The hallucinated sample of a pair, with the answer it was made from as ``meta["gold_answer"]``."""
    known = {"gold_answer": faithful.answer} if faithful.document == wrong.document else {}
    return replace(wrong, meta={**wrong.meta, **known})


def put_others(store: SampleStore, fillers: Mapping[int, Filler], lost: Sequence[str]) -> bool:
    """Replace lost samples by others of their source, split and label, as long as there are any.

    Returns whether any were replaced.
    """
    before = store.last()
    for entry, filler in fillers.items():
        for split in SPLITS:
            places: dict[Label, list[str]] = {label: [] for label in Label}
            for name in lost:
                for sample in store.samples("id = ? AND entry = ? AND split = ?", (name, entry, split)):
                    places[gold_label(sample)].append(name)
            missing = Counter({label: len(names) for label, names in places.items()})
            for sample in filler.take(split, missing):
                store.put(sample, places[gold_label(sample)].pop())
    return store.last() > before


_NO_REASONING = """
    entry = ? AND split = ? AND reason AND NOT excluded
    AND id NOT IN (SELECT sample FROM reasonings WHERE right)
"""


def sizes_table(store: SampleStore, config: DataConfig) -> list[dict[str, Any]]:
    """For the manifest: how many samples each source with a size was to give to each split, and gave."""
    rows: list[dict[str, Any]] = []
    for entry, size in sized(config).items():
        for split in SPLITS:
            if asked := size.of(split):
                labels = store.counts("label", "entry = ? AND split = ?", (entry, split))
                row: dict[str, Any] = {"source": config.sources[entry].kind, "split": split, "asked": asked}
                row["samples"] = sum(labels.values())
                row["without_reasoning"] = store.count(_NO_REASONING, (entry, split))
                rows.append(row | {label.value: labels.get(label.value, 0) for label in Label})
    return rows


def shortages(table: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each source and split with fewer samples than asked for, and for each with samples that
    have no reasoning."""
    for row in table:
        if row["samples"] < row["asked"]:
            yield (
                f"{row['source']}: {row['samples']:,} of {row['asked']:,} samples for {row['split']} "
                f"({row['PASS']:,} PASS, {row['FAIL']:,} FAIL); the source is spent"
            )
        if row["without_reasoning"]:
            yield (
                f"{row['source']}: {row['without_reasoning']:,} of {row['samples']:,} samples for "
                f"{row['split']} got no reasoning, so they give no row in reason mode; the source is spent"
            )
