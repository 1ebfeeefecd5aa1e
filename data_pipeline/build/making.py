"""Makes contrast pairs and counterfactual documents from gold answers."""

from collections.abc import Iterable, Iterator
from itertools import chain, tee

from data_pipeline.build.parallel import Plan, pairs_together
from data_pipeline.build.sizes import Filler, sized
from data_pipeline.build.splits import SPLITS
from data_pipeline.config import CounterfactualConfig, DataConfig
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.pairs.counterfactual import counterfactuals
from data_pipeline.pairs.in_full import say_in_full
from data_pipeline.pairs.injections import inject_pairs
from data_pipeline.pairs.make import GoldPairs, PairYield, make_pairs, new_pairs
from data_pipeline.pairs.makers import make_makers
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.store import SampleStore
from data_pipeline.sources.workers import Workers
from judge.progress import track
from judge.types import Sample

ONE_A_QUESTION = """
    task = 'qa' AND number IN (
        SELECT MIN(number) FROM samples WHERE task = 'qa'
        GROUP BY LOWER(TRIM(json_extract(row, '$.question')))
    )
"""
"""The first sample of each question."""


def add_pairs(
    config: DataConfig,
    golds: SampleStore,
    store: SampleStore,
    teachers: Teachers,
    dropped: Dropped,
    workers: Workers,
) -> tuple[PairYield, dict[int, Filler]]:
    """Add contrast pairs of gold answers: all that can be made, or as many as a source's size asks for.

    Returns the counts of golds that got pairs, by source and kind, and a filler for each source with a size.
    """
    perturb = teachers.get(config.perturber).perturb
    makers, counts = make_makers(golds, config.seed), PairYield()
    seen: set[bytes] = set()

    def make(some: Iterable[Sample]) -> Iterator[list[Sample]]:
        yield from finish(make_pairs(some, perturb, makers, config.shares, config.seed))

    def finish(found: Iterable[GoldPairs]) -> Iterator[list[Sample]]:
        for result in counts.count(found):
            if result.dropped is not None:
                dropped.add(result.dropped, result.gold.id)
            pairs = list(new_pairs(result.samples, seen))
            if len(pairs) < len(result.samples):
                dropped.add("the same pair again", result.gold.id)
            said = list(say_in_full(pairs, config.in_full, config.seed))
            yield list(inject_pairs(said, config.injections, config.seed))

    sizes = sized(config)
    others = [entry for entry in range(len(config.sources)) if entry not in sizes]
    shares = tuple(config.shares.items())
    plan = Plan(golds.path.absolute(), config.seed, config.edit_types, config.from_document, shares)
    several = workers.count > 1 and config.perturber == "rules"
    for entry in others:
        count = golds.count("entry = ?", (entry,))
        title = f"pairs from {config.sources[entry].title}"
        some = track(golds.samples("entry = ?", (entry,)), title, count)
        if several and count > workers.few:
            golds.commit()
            made = finish(pairs_together(some, plan, workers))
        else:
            made = make(some)
        store.add(chain.from_iterable(made), entry)
    fillers = {
        entry: Filler(golds, make, entry, size, config.seed)
        for entry, size in sizes.items()
        if golds.count("entry = ?", (entry,))
    }
    for entry, filler in fillers.items():
        title = f"pairs from {config.sources[entry].title}"
        store.add(track(filler.fill(), title, sum(map(sizes[entry].of, SPLITS))), entry)
    return counts, fillers


def add_counterfactuals(
    config: CounterfactualConfig,
    seed: int,
    golds: SampleStore,
    store: SampleStore,
    teachers: Teachers,
    dropped: Dropped,
) -> None:
    """Add the two samples of every counterfactual document that could be made, one document per question.

    WebQA repeats a question for every passage that answers it, and the calls would all be the same.
    """
    seeds = golds.draw(ONE_A_QUESTION, (), f"counterfactual:{seed}", config.seeds)
    seeds, copies = tee(track(seeds, "counterfactuals", config.seeds))

    def samples() -> Iterator[Sample]:
        made = counterfactuals(teachers.ask(config.teacher), copies, config.length)
        for gold, found in zip(seeds, made, strict=True):
            if isinstance(found, Rejected):
                dropped.add(f"counterfactual: {found.reason}", gold.id)
            else:
                yield from found

    store.add(samples())
