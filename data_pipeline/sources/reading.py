"""Streams the samples of one source: filtered, limited to whole documents, and with their licence."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from data_pipeline.sources import own
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.forms.base import LeftOut
from data_pipeline.sources.licences import licence_of, plain_licence
from data_pipeline.sources.readers import BUNDLED, OWN, READERS
from judge.errors import InputError
from judge.formats.files import DATA_DIR_ENV, resolve_data_dir
from judge.formats.shared import SIDED
from judge.types import Sample

Note = Callable[[str, str], None]
"""Called for everything left out, with the reason and the id."""


def read_source(
    source: SourceConfig,
    seed: int,
    licences: Sequence[str] | None = None,
    note: Note = lambda reason, name: None,
) -> Iterator[Sample]:
    """Stream the samples of one source, filtered and limited.

    With a limit the source is read twice: first to choose documents, then to yield their samples.

    Args:
        source: the keys of the source.
        seed: decides which documents and wrong options are taken.
        licences: only samples under these, unless the source names others.
        note: called once for each row that a form or the licences leave out.

    Raises:
        InputError: a file is missing or wrong, no sample is left after filtering, or every document has more
            samples than the limit.
    """
    allowed = source.licences or licences
    if source.limit is None:
        yield from _wanted(source, seed, allowed, note)
        return
    sizes = Counter(sample.group for sample in _wanted(source, seed, allowed, note))
    chosen = _choose(sizes, source.limit, seed)
    if not chosen:
        raise InputError(
            f"limit {source.limit} is below the {min(sizes.values())} samples of the smallest document, and "
            "whole documents are taken; raise it",
            file=source.path,
        )
    again = _wanted(source, seed, allowed, lambda reason, name: None)
    yield from (sample for sample in again if sample.group in chosen)


def lines_with_id(sources: Sequence[SourceConfig], seed: int, name: str) -> list[str]:
    """Files and lines of the samples with the id ``name``, in all sources that the recipe names itself."""
    found = (
        (record, item) for source in sources if source.kind in OWN for record, item in own.read(source, seed)
    )
    return [
        f"{record.file}:{record.line}" if record.line is not None else str(record.file)
        for record, item in found
        if item.id == name and not isinstance(item, LeftOut)
    ]


def _choose(sizes: Mapping[str, int], limit: int, seed: int) -> set[str]:
    """Documents in seeded order, as many as fit into ``limit`` samples."""
    groups = sorted(sizes)
    random.Random(f"limit:{seed}").shuffle(groups)
    chosen: set[str] = set()
    left = limit
    for group in groups:
        if sizes[group] <= left:
            chosen.add(group)
            left -= sizes[group]
    return chosen


def _wanted(source: SourceConfig, seed: int, licences: Sequence[str] | None, note: Note) -> Iterator[Sample]:
    """The samples of the languages, tasks and licences asked for, with their licence; an error if there are
    none."""
    allowed = None if licences is None else {plain_licence(name) for name in licences}
    total = kept = 0
    named = source.licence or (READERS[source.kind].licence if source.kind in READERS else None)
    for item in _read(source, seed):
        total += 1
        if isinstance(item, LeftOut):
            note(item.reason, item.id)
        elif (source.languages is None or item.language in source.languages) and (
            source.tasks is None or item.task in source.tasks
        ):
            if named is not None and not item.meta.get("licence"):
                item = replace(item, meta={**item.meta, "licence": named})
            if allowed is not None and plain_licence(licence_of(item)) not in allowed:
                note(f"licence: {licence_of(item)}", item.id)
                continue
            kept += 1
            yield item
    if not kept:
        under = f" and one of the licences {', '.join(licences)}" if licences is not None else ""
        raise InputError(
            f"source {source.kind}: none of its {total} samples has the wanted language and task{under}",
            file=source.path,
        )


def _read(source: SourceConfig, seed: int) -> Iterator[Sample | LeftOut]:
    """All samples of the source, and the rows that its form leaves out."""
    if source.kind in READERS:
        reader = READERS[source.kind]
        folder = _data_folder(source)
        splits = [source.split or reader.splits[0]] if reader.splits else []
        options: dict[str, object] = {"window_tokens": source.window_tokens} if reader.windows else {}
        if source.kind in SIDED:
            options["side"] = None if source.side == "whole" else source.side
        yield from reader.read(folder, *splits, **options)
    elif source.kind in BUNDLED:
        yield from BUNDLED[source.kind]()
    else:
        yield from (item for _, item in own.read(source, seed))


def _data_folder(source: SourceConfig) -> Path:
    folder = resolve_data_dir(Path(source.path) if source.path else None)
    if folder is None:
        raise InputError(
            f"source {source.kind} needs the original files of the set: name the folder that holds one "
            f"folder for each set as its 'path', or in {DATA_DIR_ENV}"
        )
    return folder
