"""Sources that are to give a stated number of samples, half of them hallucinated, to each split.

Example: Lynx's training set is 600 samples to train on and 200 to validate with from each of four sets
(section 3.3). What rules, the leak gate, a perturber or a reasoner drop is refilled from the same source,
until the number is there or the source is spent.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from data_pipeline.build.splits import SPLITS, Split
from data_pipeline.config import DataConfig
from data_pipeline.labels.rows import gold_label
from data_pipeline.sources.config import SizesConfig
from data_pipeline.sources.store import SampleStore
from judge.types import Label, Sample

Make = Callable[[Iterable[Sample]], Iterator[list[Sample]]]
"""The samples of each gold's pairs, hallucinated after faithful; none where no pair could be made."""


def _in_turns(stratum: str, place: str, then: str) -> str:
    """SQL of an order in which strata take turns: by the place from 0 to 1 of each row among those of its
    stratum, so that any beginning holds all strata in proportion."""
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
    """The sources of a recipe that name their size, by their place in it."""
    return {
        entry: source.samples for entry, source in enumerate(config.sources) if source.samples is not None
    }


def share_out(stores: Iterable[SampleStore], sizes: Mapping[int, SizesConfig], seed: int) -> dict[str, Split]:
    """A split for every document of sources with a size, so that each split has its share of what is there.

    Whole documents, by a seeded order in which strata (source, language, domain) take turns, each to the
    split that has least of what it is to get.
    """
    given: dict[str, Split] = {}
    for store in stores:
        for entry, size in sizes.items():
            asked = {split: count for split in SPLITS if (count := size.of(split))}
            there = dict.fromkeys(asked, 0)
            for document, count in store.table.execute(_DOCUMENTS, (f"size:{seed}", entry)).fetchall():
                split = given.setdefault(document, min(asked, key=lambda name: there[name] / asked[name]))
                if split in there:
                    there[split] += count
    return given


def draw_labelled(
    store: SampleStore,
    sizes: Mapping[int, SizesConfig],
    seed: int,
    note: Callable[[str, str], None] = lambda *_: None,
) -> None:
    """Keep of labelled sources as many PASS and FAIL samples as each split is to get, and drop the others.

    Pairs, and the options of a question, stay together. Samples have their splits.
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
    """Fills the splits of a source that is perturbed from its golds, and can be asked for more.

    As in the papers, half of the golds give a faithful sample and the others a hallucinated one (Lynx, 3.3;
    Bi'an, 2.2), or each gives both (``pairs``). No more golds are perturbed than are missing at a time.

    Args:
        golds: with their splits.
        make: the pairs of some of them.
        entry: the source's place in the recipe.
        size: what it is to give.
        seed: decides the order.
    """

    def __init__(self, golds: SampleStore, make: Make, entry: int, size: SizesConfig, seed: int):
        self._make, self._size = make, size
        self._left = {split: golds.count("entry = ? AND split = ?", (entry, split)) for split in SPLITS}
        self._queues = {
            split: golds.samples("entry = ? AND split = ?", (entry, split, f"size:{seed}"), order=_GOLDS)
            for split in SPLITS
        }

    def fill(self) -> Iterator[Sample]:
        """What every split is to get; of an odd number one more is faithful."""
        for split in SPLITS:
            number = self._size.of(split)
            yield from self.take(split, Counter({Label.PASS: (number + 1) // 2, Label.FAIL: number // 2}))

    def take(self, split: Split, missing: Counter[Label]) -> Iterator[Sample]:
        """As many samples of each label, from golds that gave none yet, until the source is spent."""
        yield from (self._together if self._size.pairs else self._apart)(split, missing)

    def _together(self, split: Split, missing: Counter[Label]) -> Iterator[Sample]:
        while missing.total() and (some := self._next(split, max(missing.values()))):
            for sample in chain.from_iterable(self._make(some)):
                if sample.label is not None and missing[sample.label]:
                    missing[sample.label] -= 1
                    yield sample

    def _apart(self, split: Split, missing: Counter[Label]) -> Iterator[Sample]:
        """Hallucinated samples first, and then as many faithful ones, so that a source which is spent early
        has given about as many of both."""
        while missing.total() and self._left[split]:
            tried = self._next(split, min(missing[Label.FAIL], max(self._left[split] // 2, 1)))
            before = missing[Label.FAIL]
            for samples in self._make(tried):
                if samples:
                    missing[Label.FAIL] -= 1
                    yield _without_twin(*samples[:2])
            wanted = before - missing[Label.FAIL] if missing[Label.FAIL] else missing[Label.PASS]
            for gold in self._next(split, min(wanted, missing[Label.PASS])):
                missing[Label.PASS] -= 1
                yield _alone(gold)

    def _next(self, split: Split, count: int) -> list[Sample]:
        found = list(islice(self._queues[split], count))
        self._left[split] -= len(found)
        return found


def _alone(gold: Sample) -> Sample:
    """A gold answer as a faithful sample without a hallucinated one."""
    return replace(gold, label=Label.PASS, meta={**gold.meta, "pair": gold.id, "kind": "edit"})


def _without_twin(faithful: Sample, wrong: Sample) -> Sample:
    """The hallucinated sample of a pair; ``meta["gold_answer"]`` is what it was made from."""
    known = {"gold_answer": faithful.answer} if faithful.document == wrong.document else {}
    return replace(wrong, meta={**wrong.meta, **known})


def put_others(store: SampleStore, fillers: Mapping[int, Filler], lost: Sequence[str]) -> bool:
    """Put other samples of their source, split and label in the place of some; as far as there are any.

    Returns whether there were any.
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
    """For the manifest: what each source with a size was asked for in each split, and what it gave."""
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
    """One line for each source that was spent before a split had what it was to get, and for each whose
    samples have no reasoning."""
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
