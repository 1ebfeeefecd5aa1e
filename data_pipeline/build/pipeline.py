"""Builds a data set, stage by stage, in :func:`build` (docs/contributing/layout.md walks through it).

Every stage reads and writes the build's table on disk (:mod:`data_pipeline.sources.store`), one sample at a
time, so memory does not grow with the number of samples. An interrupted build starts over, but pays
nothing twice: replies are in the call cache. An earlier set is untouched until the new one is complete.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from data_pipeline.audit.gate import audit_build
from data_pipeline.build.checks import check_labels, check_splits
from data_pipeline.build.making import add_counterfactuals, add_pairs
from data_pipeline.build.manifest import FILES, data_card, make_manifest
from data_pipeline.build.modes import assign_modes
from data_pipeline.build.sizes import draw_labelled, put_others, share_out, shortages, sized, sizes_table
from data_pipeline.build.splits import assign_splits
from data_pipeline.build.unfinished import MANIFEST, in_place_of
from data_pipeline.build.write import write_bianbench, write_files
from data_pipeline.config import DataConfig
from data_pipeline.labels.judgements import drop_one_sided, note_judgements
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.labels.repeats import check_repeats
from data_pipeline.labels.supported import only_supported
from data_pipeline.leaks.gate import LeakGate
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.reading import lines_with_id, read_source
from data_pipeline.sources.store import DuplicateId, SampleStore
from data_pipeline.sources.workers import Workers
from judge.errors import counted
from judge.files import write_json, write_jsonl, write_text
from judge.progress import track
from judge.samples import write_samples
from judge.types import Label, Sample

Say = Callable[[str], None]
FAILED = "labelled FAIL"
"""Reason noted for the wrong answers of a labelled set, which cannot be gold answers."""


def build(
    config: DataConfig,
    say: Say = lambda _: None,
    teachers: Teachers | None = None,
    workers: Workers | None = None,
) -> dict[str, Any]:
    """Build the data set of a recipe in the folder ``config.output``.

    The same recipe gives the same files, regardless of the number of processes or parallel calls, and of
    interruptions. They replace the files of an earlier set once all are written.

    Args:
        config: the recipe.
        say: called with lines that report what was done.
        teachers: by default those that the recipe names.
        workers: processes for pure computation; by default all runs in this process.

    Returns:
        The manifest.

    Raises:
        InputError: a source is wrong, a split lacks a label, or the audit found that labels can be guessed
            without reading; no judgements have been paid for then.
        JudgeError: a teacher failed, the budget is used up, or the disk is full; all replies so far are kept.

    After an error the unfinished files stay in ``unfinished-build``, in the folder of the data set.
    """
    dropped, trimmed = Dropped(), Dropped()
    workers = workers or Workers()
    with (
        in_place_of(Path(config.output)) as folder,
        SampleStore(folder / ".golds.sqlite") as golds,
        SampleStore(folder / ".samples.sqlite") as store,
        teachers or Teachers(config, say) as teachers,
    ):
        sizes = sized(config)
        for entry, source in enumerate(config.sources):
            perturbs = config.perturbs(source)
            read = read_source(source, config.seed, config.licences, dropped.add)
            read = track(read, f"read {source.title}")
            failed = dropped.counts[FAILED]
            try:
                if not perturbs:
                    store.add(read, entry)
                if source.perturb:  # of a labelled set only the right answers are perturbed
                    read = only_right(read, dropped)
                if source.contrast_pairs:
                    read = right_answers(store.samples("entry = ? AND label = 'PASS'", (entry,)))
                if perturbs or source.contrast_pairs:
                    checked = only_supported(read, dropped, trimmed, workers) if config.check_golds else read
                    golds.add(checked, entry)
                if source.perturb:
                    drop_unlabelled(golds, entry, dropped, labelled=dropped.counts[FAILED] > failed)
            except DuplicateId as error:
                places = lines_with_id(config.sources, config.seed, error.id)
                raise DuplicateId(error.id, places) from None
        check_labels(golds, store, config)
        names = [source.title for source in config.sources]
        check_repeats((golds, store), names, config.max_repeated, say)
        say(f"{counted(golds.count() + store.count(), 'sample')} in the sources")
        gate = LeakGate(config.leaks) if config.leaks is not None else None
        if gate is not None:  # before anything is paid for
            gate.drop_leaks(golds)
            gate.drop_leaks(store)
            tell_losses(gate, config, folder, say)
        splits = (config.splits.validation, config.splits.test, config.seed)
        given = share_out((golds, store), sizes, config.seed) if sizes else {}
        # Before pairs are made, since they borrow from other documents of their split.
        assign_splits(golds, *splits, given=given.items())
        if sizes:
            assign_splits(store, *splits, given=given.items())
            draw_labelled(store, sizes, config.seed, dropped.add)
        made, fillers = add_pairs(config, golds, store, teachers, dropped, workers)
        if config.counterfactuals is not None:
            before = store.last()
            add_counterfactuals(config.counterfactuals, config.seed, golds, store, teachers, dropped)
            if gate is not None:  # the new documents may still repeat a benchmark
                gate.drop_leaks(store, after=before)
                tell_losses(gate, config, folder, say)
        assign_splits(store, *splits, given=chain(golds.splits(), given.items()))
        check_splits(store, config)
        assign_modes(store, config.modes, config.seed)
        say(f"{counted(store.count(), 'sample')} about {counted(store.documents(), 'document')}")
        write_samples(folder / "samples.jsonl", store.samples())
        for subset, count in write_bianbench(config, folder, store).items():
            say(f"Bi'anBench {subset}: {counted(count, 'row')}")
        # Before any judgements are paid for.
        audit = audit_build(store, folder, config, say, workers)
        rejected = folder / "rejected.jsonl"
        refill = partial(put_others, store, fillers)
        yields = note_judgements(store, config.reasoning, teachers, dropped, rejected, workers, refill)
        for line in drop_one_sided(store, dropped):
            say(f"reasonings: {line}")
        write_samples(folder / "samples.jsonl", store.samples())
        sizes_made = sizes_table(store, config)
        for line in shortages(sizes_made):
            say(f"sizes: {line}")
        write_files(config, folder, store, say)
        if gate is None:
            write_jsonl(folder / "leaks.jsonl", ())
        stages = {
            "trimmed": trimmed.table(),
            "pairs": made.table(),
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
    """The right answers of a labelled set as gold answers, with new ids."""
    return (replace(one, id=f"{one.id}-gold") for one in samples)


def only_right(samples: Iterable[Sample], dropped: Dropped) -> Iterator[Sample]:
    """The samples not labelled FAIL; the others are added to ``dropped``."""
    for sample in samples:
        if sample.label is Label.FAIL:
            dropped.add(FAILED, sample.id)
        else:
            yield sample


def drop_unlabelled(golds: SampleStore, entry: int, dropped: Dropped, *, labelled: bool) -> None:
    """Drop unlabelled samples of a source that labels others: nobody has called their answers right."""
    if labelled or golds.count("entry = ? AND label IS NOT NULL", (entry,)):
        without = ("entry = ? AND label IS NULL", (entry,))
        for name in golds.ids(*without):
            dropped.add("no label", name)
        golds.drop(*without)


def tell_losses(gate: LeakGate, config: DataConfig, folder: Path, say: Say) -> None:
    """List and report what the leak gate dropped. Raises ``InputError`` if a source lost too much."""
    listed = folder / "leaks.jsonl"
    write_jsonl(listed, gate.rows)
    say(f"leak gate: {counted(len(gate.rows), 'sample')} dropped")
    for line in gate.lines():
        say(f"leak gate: {line}")
    gate.check_losses([source.title for source in config.sources], listed)
