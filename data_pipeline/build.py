"""Building a data set: sources, leak gate, twins, splits, judgements, rows, a folder with its manifest.

Every stage reads and writes the build's table on disk (:mod:`data_pipeline.store`), one sample after the
other, so memory does not grow with their number. A build that was stopped starts again and pays for nothing
twice: what teachers said lies in the call cache. An earlier set stays as it is until the new one is whole.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, tee
from pathlib import Path
from typing import Any

from data_pipeline.audit.gate import audit_build
from data_pipeline.checks import check_labels, check_splits
from data_pipeline.config import CounterfactualConfig, DataConfig
from data_pipeline.counterfactual import counterfactuals
from data_pipeline.engines import Engine, Stage, make_engine
from data_pipeline.gating import LeakGate
from data_pipeline.injections import inject_twins
from data_pipeline.judgements import note_judgements
from data_pipeline.manifest import FILES, Dropped, data_card, make_manifest
from data_pipeline.modes import assign_modes
from data_pipeline.perturb import Perturbation, RulePerturber
from data_pipeline.perturb.verify import Rejected
from data_pipeline.repeats import check_repeats
from data_pipeline.sampling import draw
from data_pipeline.sentences import sentence_rows
from data_pipeline.sizes import draw_labelled, fill, share_out, shortages, sized, sizes_table
from data_pipeline.sources import places_of, read_source
from data_pipeline.splits import SPLITS, assign_splits
from data_pipeline.store import DuplicateId, SampleStore
from data_pipeline.supported import only_supported
from data_pipeline.teachers.room import Teachers
from data_pipeline.teachers.rules import RulesTeacher
from data_pipeline.twins import Perturb, Twins, TwinYield, make_makers, make_twins, new_pairs
from data_pipeline.twins.in_full import say_in_full
from data_pipeline.twins.together import Plan, twins_together
from data_pipeline.unfinished import MANIFEST, in_place_of
from data_pipeline.workers import Workers
from data_pipeline.write import write_bianbench, write_files
from judge.files import write_json, write_jsonl, write_text
from judge.progress import track
from judge.samples import write_samples
from judge.types import Sample

Say = Callable[[str], None]

ONE_A_QUESTION = """
    task = 'qa' AND number IN (
        SELECT MIN(number) FROM samples WHERE task = 'qa'
        GROUP BY LOWER(TRIM(json_extract(row, '$.question')))
    )
"""
"""The first sample of each question."""


def build(
    config: DataConfig,
    say: Say = lambda _: None,
    teachers: Teachers | None = None,
    workers: Workers | None = None,
) -> dict[str, Any]:
    """Build the data set that a recipe describes into ``config.output``.

    The same recipe gives the same files, whatever the engine, the number of processes, that of calls at once
    and how often it was stopped. They take the places of an earlier set's when all of them are made.

    Args:
        config: the recipe.
        say: is told, in one line each, what was done.
        teachers: those that the recipe names by default.
        workers: processes for what only computes; without them it is done in this one.

    Returns:
        The manifest.

    Raises:
        InputError: a source is wrong, a split is left empty, or the audit found labels that give themselves
            away; nothing was paid for judgements then.
        JudgeError: a teacher failed, the budget is used up, or the disk is full; every answer so far is kept.

    After an error what was made lies in ``unfinished-build``, in the folder of the data set.
    """
    engine, dropped, trimmed = make_engine(config.engine), Dropped(), Dropped()
    workers = workers or Workers()
    with (
        in_place_of(Path(config.output)) as folder,
        SampleStore(folder / ".golds.sqlite") as golds,
        SampleStore(folder / ".samples.sqlite") as store,
        teachers or Teachers(config, say) as teachers,
    ):
        sizes = sized(config)
        for entry, source in enumerate(config.sources):
            perturbs = config.perturb if source.perturb is None else source.perturb
            read = read_source(source, config.seed, config.licences, dropped.add)
            read = track(read, f"read {source.path or source.kind}")
            try:
                if not perturbs:
                    store.add(read, entry)
                if source.twins:
                    read = right_answers(store.samples("entry = ? AND label = 'PASS'", (entry,)))
                if perturbs or source.twins:
                    checked = only_supported(read, dropped, trimmed, workers) if config.check_golds else read
                    golds.add(checked, entry)
            except DuplicateId as error:
                raise error.at(places_of(config.sources, config.seed, error.id)) from None
        check_labels(golds, store)
        names = [source.path or source.kind for source in config.sources]
        check_repeats((golds, store), names, config.max_repeated, say)
        say(f"{golds.count() + store.count()} samples in the sources")
        gate = LeakGate(config.leaks) if config.leaks is not None else None
        if gate is not None:  # before anything is paid for
            gate.drop_leaks(golds)
            gate.drop_leaks(store)
            tell_losses(gate, config, folder, say)
        splits = (config.splits.validation, config.splits.test, config.seed)
        given = share_out((golds, store), sizes, config.seed)
        # Before twins are made: they borrow from documents of their own split.
        assign_splits(golds, *splits, given=given.items())
        if sizes:
            assign_splits(store, *splits, given=given.items())
            draw_labelled(store, sizes, config.seed, dropped.add)
        made = add_twins(config, golds, store, engine, teachers, dropped, workers)
        if config.sentences:
            store.add(sentence_rows(store, config.sentences, config.seed))
        if config.counterfactuals is not None:
            before = store.last()
            add_counterfactuals(config.counterfactuals, config.seed, golds, store, teachers, dropped)
            if gate is not None:  # the documents are new, and may repeat a benchmark all the same
                gate.drop_leaks(store, after=before)
                tell_losses(gate, config, folder, say)
        mixed = draw(store, config.mix, config.seed, dropped.add) if config.mix is not None else None
        for line in mixed["notes"] if mixed is not None else ():
            say(f"mix: {line}")
        assign_splits(store, *splits, given=chain(golds.splits(), given.items()))
        check_splits(store, config)
        sizes_made = sizes_table(store, config)
        for line in shortages(sizes_made):
            say(f"sizes: {line}")
        assign_modes(store, config.modes, config.seed)
        say(f"{store.count()} samples about {store.documents()} documents")
        write_samples(folder / "samples.jsonl", store.samples())
        for subset, count in write_bianbench(config, folder, store).items():
            say(f"Bi'anBench {subset}: {count} rows")
        # Before judgements are paid for.
        audit = audit_build(store, folder, config, say, workers)
        aside = folder / "aside.jsonl"
        yields = note_judgements(store, config.reasoning, teachers, dropped, aside, workers)
        write_files(config, folder, store, say)
        if gate is None:
            write_jsonl(folder / "leaks.jsonl", ())
        stages = {
            "trimmed": trimmed.table(),
            "twins": made,
            "mix": mixed,
            "sizes": sizes_made,
            "audit": audit,
            "yield": yields,
            "teachers": teachers.costs(),
            "leaks": gate.record(folder, FILES) if gate is not None else None,
        }
        manifest = make_manifest(config, folder, store, dropped, stages)
        write_text(folder / "card.md", data_card(manifest))
        write_json(folder / MANIFEST, manifest)
    return manifest


def right_answers(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Right answers of labelled samples as gold answers, with ids of their own."""
    return (replace(one, id=f"{one.id}-gold") for one in samples)


def tell_losses(gate: LeakGate, config: DataConfig, folder: Path, say: Say) -> None:
    """List and tell what the leak gate dropped. Raises ``InputError`` where a source lost too much."""
    listed = folder / "leaks.jsonl"
    write_jsonl(listed, gate.rows)
    say(f"leak gate: {len(gate.rows)} samples dropped")
    for line in gate.lines():
        say(f"leak gate: {line}")
    gate.check_losses([source.path or source.kind for source in config.sources], listed)


def add_twins(
    config: DataConfig,
    golds: SampleStore,
    store: SampleStore,
    engine: Engine,
    teachers: Teachers,
    dropped: Dropped,
    workers: Workers,
) -> dict[str, dict[str, int]]:
    """Add the labelled twins of gold answers, all that can be made or as many as a source is to give.

    Returns how many golds got them, by source and kind.
    """
    if config.perturber == "rules":
        stage = partial(_rules_stage, config.seed, config.edit_types, config.from_document)
        perturb: Perturb = partial(engine.run, stage)
    else:
        perturb = teachers.get(config.perturber, config.paraphrase_check).perturb
    makers, counts = make_makers(golds, config.seed), TwinYield()
    seen: set[bytes] = set()

    def make(some: Iterable[Sample]) -> Iterator[list[Sample]]:
        yield from finish(make_twins(some, perturb, makers, config.shares, config.seed))

    def finish(found: Iterable[Twins]) -> Iterator[list[Sample]]:
        for twins in counts.count(found):
            if twins.dropped is not None:
                dropped.add(twins.dropped, twins.gold.id)
            pairs = list(new_pairs(twins.samples, seen))
            if len(pairs) < len(twins.samples):
                dropped.add("the same pair again", twins.gold.id)
            said = list(say_in_full(pairs, config.in_full, config.seed))
            yield list(inject_twins(said, config.injections, config.seed))

    sizes = sized(config)
    others = [entry for entry in range(len(config.sources)) if entry not in sizes]
    shares = tuple(config.shares.items())
    plan = Plan(golds.path.absolute(), config.seed, config.edit_types, config.from_document, shares)
    several = workers.count > 1 and config.perturber == "rules" and config.engine == "local"
    for entry in others:
        count = golds.count("entry = ?", (entry,))
        title = f"pairs from {config.sources[entry].path or config.sources[entry].kind}"
        some = track(golds.samples("entry = ?", (entry,)), title, count)
        if several and count > workers.few:
            golds.commit()
            made = finish(twins_together(some, plan, workers))
        else:
            made = make(some)
        store.add(chain.from_iterable(made), entry)
    for entry, size in sizes.items():
        filled = fill(golds, make, entry, size, config.seed)
        title = f"pairs from {config.sources[entry].path or config.sources[entry].kind}"
        store.add(track(filled, title, sum(map(size.of, SPLITS))), entry)
    return counts.table()


def add_counterfactuals(
    config: CounterfactualConfig,
    seed: int,
    golds: SampleStore,
    store: SampleStore,
    teachers: Teachers,
    dropped: Dropped,
) -> None:
    """Add the two samples of every counterfactual document that could be made, one document a question.

    WebQA has each question once for every passage that answers it; the calls would all be the same.
    """
    seeds = golds.draw(ONE_A_QUESTION, (), f"counterfactual:{seed}", config.seeds)
    seeds, copies = tee(track(seeds, "counterfactuals", config.seeds))

    def samples() -> Iterator[Sample]:
        made = counterfactuals(teachers.ask(config.teacher), copies, config.style, config.length)
        for gold, found in zip(seeds, made, strict=True):
            if isinstance(found, Rejected):
                dropped.add(f"counterfactual: {found.reason}", gold.id)
            else:
                yield from (found.faithful, found.hallucinated)

    store.add(samples())


def _rules_stage(
    seed: int, edit_types: tuple[str, ...], from_document: float
) -> Stage[Sample, Perturbation | Rejected]:
    """The rule perturber as a stage; a function of the module, since it may run on another machine."""
    return RulesTeacher(RulePerturber(seed, edit_types, from_document)).perturb
