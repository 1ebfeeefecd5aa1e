"""Building a data set: sources, twins, splits, SFT rows, preference pairs, a folder with its manifest."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from data_pipeline.config import DataConfig
from data_pipeline.manifest import data_card, make_manifest
from data_pipeline.perturb import RulePerturber
from data_pipeline.preferences import Judging, preference_rows
from data_pipeline.rows import sft_rows
from data_pipeline.sources import read_source
from data_pipeline.splits import assign_splits, in_split
from data_pipeline.twins import make_twins
from judge.errors import InputError
from judge.files import write_json, write_jsonl, write_text
from judge.judge import load_judge
from judge.samples import write_samples
from judge.types import Label, Mode, Sample, Verdict

Say = Callable[[str], None]


def build(config: DataConfig, say: Say = lambda _: None) -> dict[str, Any]:
    """Build the data set that a recipe describes into ``config.output``.

    The same recipe gives the same files. The manifest is written last: a folder without one is unfinished.

    Args:
        config: the recipe.
        say: is told, in one line each, what was done.

    Returns:
        The manifest.

    Raises:
        InputError: a source is wrong, or a split is left empty.
    """
    folder = Path(config.output)
    (folder / "manifest.json").unlink(missing_ok=True)
    samples, dropped = labelled_samples(config)
    splits = assign_splits(samples, config.splits.validation, config.splits.test, config.seed)
    samples = [replace(sample, meta={**sample.meta, "split": splits[sample.group]}) for sample in samples]
    train, validation = in_split(samples, "train"), in_split(samples, "validation")
    for name, part in (("train", train), ("validation", validation)):
        if {sample.label for sample in part} != set(Label):
            raise InputError(
                f"the {name} split holds {len(part)} samples and not both labels; "
                "more documents, or another share in 'splits', are needed"
            )
    say(f"{len(samples)} samples about {len(splits)} documents")

    rows: dict[str, Any] = {
        "sft/train": sft_rows(train, config.modes, config.seed),
        "sft/validation": sft_rows(validation, config.modes, config.seed),
    }
    say(f"{len(rows['sft/train'])} SFT rows to train on")
    judging = _base_model(config) if config.preferences.pairs else None
    for name, part in (("train", train), ("validation", validation)):
        count = round(config.preferences.pairs * len(part) / len(train))
        rows[f"dpo/{name}"] = preference_rows(part, count, config.preferences, config.seed, judging)
    say(f"{len(rows['dpo/train'])} preference pairs to train on")

    write_samples(folder / "samples.jsonl", samples)
    write_samples(folder / "test.jsonl", in_split(samples, "test"))
    for name, items in rows.items():
        write_jsonl(folder / f"{name}.jsonl", items)
    manifest = make_manifest(config, folder, samples, rows, dropped)
    write_text(folder / "card.md", data_card(manifest))
    write_json(folder / "manifest.json", manifest)
    return manifest


def labelled_samples(config: DataConfig) -> tuple[list[Sample], dict[str, list[str]]]:
    """The samples of all sources with labels, twins made where wanted; and the ids left out, by reason."""
    found: list[Sample] = []
    for source in config.sources:
        found += read_source(source, config.seed)
    seen: set[str] = set()
    for sample in found:
        if sample.id in seen:
            raise InputError(f"id {sample.id!r} occurs in two sources; ids name samples across a data set")
        seen.add(sample.id)
    if not config.perturb:
        unlabelled = [sample.id for sample in found if sample.label is None]
        if unlabelled:
            raise InputError(
                f"sample {unlabelled[0]!r} has no label; with 'perturb: false' every sample needs one"
            )
        return found, {"no safe edit": []}
    for sample in found:
        if sample.label is Label.FAIL:
            raise InputError(f"sample {sample.id!r} is labelled FAIL; only gold answers can be perturbed")
    samples, without_edit = make_twins(
        found,
        RulePerturber(config.seed, config.edit_types, config.from_document),
        config.edits,
        config.additions,
        config.seed,
    )
    return samples, {"no safe edit": [sample.id for sample in without_edit]}


def _base_model(config: DataConfig) -> Judging | None:
    """The recipe's base model as a judge, loaded at its first use; ``None`` where none is named."""
    settings = config.preferences
    if settings.model is None:
        return None
    judges: dict[Mode, Any] = {}

    def judging(samples: Sequence[Sample], mode: Mode) -> list[Verdict]:
        if mode not in judges:
            judges[mode] = load_judge(settings.model or "", mode=mode, max_new_tokens=settings.max_new_tokens)
        return list(judges[mode].iter_check(samples))

    return judging
