"""Streaming the samples of one source: filtered, limited to whole documents, told what all of them are."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from data_pipeline.sources import hub, squad
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.readers import READERS
from data_pipeline.starter import load_starter
from judge.errors import InputError
from judge.formats.files import DATA_DIR_ENV, resolve_data_dir
from judge.samples import read_samples
from judge.types import Sample


def read_source(source: SourceConfig, seed: int) -> Iterator[Sample]:
    """Stream the samples of one source, filtered and limited.

    With a limit the source is read twice: first to choose documents, then to yield theirs.

    Raises:
        InputError: a file is missing or wrong, or no sample is left after filtering.
    """
    if source.limit is None:
        yield from _wanted(source)
        return
    chosen = _choose(Counter(sample.group for sample in _wanted(source)), source.limit, seed)
    yield from (sample for sample in _wanted(source) if sample.group in chosen)


def take_documents(samples: Sequence[Sample], limit: int, seed: int) -> list[Sample]:
    """Whole documents, in seeded order, until ``limit`` samples are reached; returned in the given order."""
    chosen = _choose(Counter(sample.group for sample in samples), limit, seed)
    return [sample for sample in samples if sample.group in chosen]


def _choose(sizes: Mapping[str, int], limit: int, seed: int) -> set[str]:
    """Documents in seeded order, each that still fits into ``limit`` samples."""
    groups = sorted(sizes)
    random.Random(f"limit:{seed}").shuffle(groups)
    chosen: set[str] = set()
    left = limit
    for group in groups:
        if sizes[group] <= left:
            chosen.add(group)
            left -= sizes[group]
    return chosen


def _wanted(source: SourceConfig) -> Iterator[Sample]:
    """The samples of the wanted languages and tasks; at least one."""
    total = kept = 0
    for total, sample in enumerate(_all(source), start=1):  # noqa: B007 (the count is for the message)
        if (source.languages is None or sample.language in source.languages) and (
            source.tasks is None or sample.task in source.tasks
        ):
            kept += 1
            yield sample
    if not kept:
        raise InputError(
            f"source {source.kind}: none of its {total} samples has the wanted language and task"
        )


def _all(source: SourceConfig) -> Iterator[Sample]:
    """Everything that the source holds."""
    if source.kind in READERS:
        reader = READERS[source.kind]
        folder = _data_folder(source)
        splits = [source.split or reader.splits[0]] if reader.splits else []
        yield from reader.read(folder, *splits)
    elif source.kind == "starter":
        yield from load_starter()
    else:
        for sample in _own(source, source.path or ""):
            yield replace(
                sample,
                task=source.constants.task or sample.task,
                language=source.constants.language or sample.language,
            )


def _own(source: SourceConfig, path: str) -> Iterator[Sample]:
    """Samples of a file or a Hub data set that the recipe names."""
    if source.kind == "hub":
        yield from hub.read(path, source.subset, source.split or "train", source.columns)
    elif source.kind == "squad":
        yield from squad.read(Path(path), Path(path).name.split(".json")[0], "en")
    else:
        for sample in read_samples(Path(path), source.columns, check_ids=False):
            yield replace(sample, source=sample.source or Path(path).stem)


def _data_folder(source: SourceConfig) -> Path:
    folder = resolve_data_dir(Path(source.path) if source.path else None)
    if folder is None:
        raise InputError(
            f"source {source.kind} needs the original files of the set: name the folder that holds one "
            f"folder for each set as its 'path', or in {DATA_DIR_ENV}"
        )
    return folder
