"""Checks that stop a build: wrong or missing labels, and sets or splits that cannot be trained on."""

from pathlib import Path

from data_pipeline.build.manifest import FILES
from data_pipeline.build.unfinished import MANIFEST, NAME, SOMETIMES, files_at
from data_pipeline.config import KEYS, DataConfig
from data_pipeline.sources.own import files_of
from data_pipeline.sources.reading import lines_with_id
from data_pipeline.sources.store import SampleStore
from judge.errors import InputError
from judge.rows import check_outputs
from judge.types import Label


def check_target(config: DataConfig, overwrite: bool) -> None:
    """Check that the output holds no file that a build would replace unasked.

    Raises:
        InputError: it holds a data set or somebody's files of those names and ``overwrite`` is not set, or a
            file that the recipe reads.
    """
    output = Path(config.output)
    used = [
        file for source in config.sources if source.kind == "file" for file in files_of(source.path or "")
    ]
    names = (*FILES, "leaks.jsonl", "rejected.jsonl")
    check_outputs([output / name for name in names], used, "data set")
    if overwrite:
        return
    if (output / MANIFEST).exists():
        raise InputError("holds a data set; give another --out, or add --overwrite", file=output)
    there = [file for name in (*names, "card.md", *SOMETIMES) for file in files_at(output / name)]
    if there and not (output / NAME).exists():  # not of a build that was stopped while it replaced them
        raise InputError(
            "is a file that the build would replace; give another --out, or add --overwrite", file=there[0]
        )


def check_labels(golds: SampleStore, store: SampleStore, config: DataConfig) -> None:
    """Check that no gold answer is labelled FAIL, and that samples which are used unchanged have labels.

    Raises:
        InputError: naming the first sample that fails the check.
    """
    for sample in golds.samples("label = 'FAIL'"):
        raise InputError(
            f"sample {sample.id!r} is labelled FAIL, and pairs are made from right answers alone; 'perturb: "
            "true' in its source leaves the others out, and 'perturb: false' takes all labels as they are "
            "(after the recipe: perturb=false)",
            file=_place(sample.id, config),
            field="label",
        )
    for sample in store.samples("label IS NULL"):
        raise InputError(
            f"sample {sample.id!r} has no label; with 'perturb: false' every sample needs one: "
            "PASS or FAIL, or remove the row",
            file=_place(sample.id, config),
            field="label",
        )


def _place(name: str, config: DataConfig) -> str | None:
    """File and line of a sample, if it comes from a file that the recipe names."""
    return next(iter(lines_with_id(config.sources, config.seed, name)), None)


def check_splits(store: SampleStore, config: DataConfig) -> None:
    """Raise ``InputError`` if the set, its train or its validation split lacks one of the labels."""
    labels = store.counts("label")
    for label in Label:
        if label not in labels:
            count = sum(labels.values())
            raise InputError(
                f"none of the {count} samples is labelled {label}, and a judge needs both labels; "
                + _how_to_get_pairs(config)
            )
    for split in ("train", "validation"):
        if len(store.counts("label", "split = ?", (split,))) < len(Label):
            sized = all(source.samples for source in config.sources)
            key = f"'samples.{split}' of the sources" if sized else "'splits'"
            raise InputError(
                f"the {split} split holds {store.count('split = ?', (split,))} samples and not both labels; "
                f"it takes more documents, or more in {key}"
            )


def _how_to_get_pairs(config: DataConfig) -> str:
    """Advice for a set whose samples all have the same label."""
    if not any(map(config.perturbs, config.sources)):
        return "take sources with both labels, or let gold answers be perturbed ('perturb: true')"
    if not any(config.shares.values()):
        keys = ", ".join(repr(key) for key in KEYS.values())
        return f"no pairs are asked for: set one of {keys} above 0"
    if config.perturber != "rules":
        return f"no gold answer got a pair from {config.perturber}; the lines above count its replies"
    return "no gold answer got a pair: ask for more kinds of pairs or edits, or take longer answers"
