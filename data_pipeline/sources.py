"""Reading the samples that a data recipe names."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from data_pipeline.config import SourceConfig
from data_pipeline.starter import load_starter
from judge.errors import InputError
from judge.formats import ragtruth
from judge.samples import read_samples
from judge.types import Sample


def read_source(source: SourceConfig, seed: int) -> list[Sample]:
    """The samples of one source, filtered and limited.

    Raises:
        InputError: the file is wrong, or no sample is left after filtering.
    """
    if source.kind == "starter":
        samples = load_starter()
    elif source.kind == "ragtruth":
        samples = ragtruth.load_split("train", Path(source.path) if source.path else None)
    else:
        path = Path(source.path or "")
        samples = [
            replace(sample, source=sample.source or path.stem)
            for sample in read_samples(path, source.columns)
        ]
    kept = [
        sample
        for sample in samples
        if (source.languages is None or sample.language in source.languages)
        and (source.tasks is None or sample.task in source.tasks)
    ]
    if not kept:
        raise InputError(
            f"source {source.kind}: none of its {len(samples)} samples has the wanted language and task"
        )
    return kept if source.limit is None else take_documents(kept, source.limit, seed)


def take_documents(samples: Sequence[Sample], limit: int, seed: int) -> list[Sample]:
    """Whole documents, in seeded order, until ``limit`` samples are reached; returned in the given order."""
    groups = sorted({sample.group for sample in samples})
    random.Random(f"limit:{seed}").shuffle(groups)
    sizes = dict.fromkeys(groups, 0)
    for sample in samples:
        sizes[sample.group] += 1
    chosen: set[str] = set()
    left = limit
    for group in groups:
        if sizes[group] <= left:
            chosen.add(group)
            left -= sizes[group]
    return [sample for sample in samples if sample.group in chosen]
