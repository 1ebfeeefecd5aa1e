"""The manifest of a data set for programs, and its card for people: what is in it and how it was made."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import judge
from data_pipeline.config import DataConfig
from judge.files import sha256_file
from judge.prompts import BuiltinPrompt
from judge.types import DPORow, Sample, SFTRow

FILES = (
    "samples.jsonl", "test.jsonl", "sft/train.jsonl", "sft/validation.jsonl", "dpo/train.jsonl",
    "dpo/validation.jsonl",
)  # fmt: skip


def count(samples: Sequence[Sample]) -> dict[str, dict[str, int]]:
    """How many samples of each split, source, task, language, label and edit type."""
    views = {
        "split": [sample.meta["split"] for sample in samples],
        "source": [sample.source for sample in samples],
        "task": [sample.task.value for sample in samples],
        "language": [sample.language for sample in samples],
        "label": [str(sample.label) for sample in samples],
        "edit_type": [sample.meta["edit_type"] for sample in samples if "edit_type" in sample.meta],
    }
    return {name: dict(sorted(Counter(values).items())) for name, values in views.items()}


def count_rows(rows: Sequence[SFTRow] | Sequence[DPORow]) -> dict[str, int]:
    """How many rows of each mode and label, and of each origin of the rejected judgement."""
    metas = [row["meta"] for row in rows]
    keys = Counter(f"{meta['mode']} {meta['label']}" for meta in metas)
    keys.update(f"rejected from {meta['rejected_from']}" for meta in metas if "rejected_from" in meta)
    return dict(sorted(keys.items()))


def make_manifest(
    config: DataConfig,
    folder: Path,
    samples: Sequence[Sample],
    rows: Mapping[str, Sequence[SFTRow] | Sequence[DPORow]],
    dropped: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Everything needed to reread and rebuild a data set; files are named by their hashes.

    ``dropped`` holds, for each reason, the ids that were left out.
    """
    perturbed = [sample for sample in samples if "from_document" in sample.meta]
    return {
        "config": config.model_dump(mode="json"),
        "version": judge.__version__,
        **BuiltinPrompt().describe(),
        "files": {name: sha256_file(folder / name) for name in FILES},
        "documents": len({sample.group for sample in samples}),
        "samples": len(samples),
        "counts": count(samples),
        "rows": {name: {"total": len(items), **count_rows(items)} for name, items in rows.items()},
        "edits_from_document": (
            round(sum(sample.meta["from_document"] for sample in perturbed) / len(perturbed), 4)
            if perturbed
            else None
        ),
        "dropped": {reason: {"count": len(ids), "ids": list(ids)} for reason, ids in dropped.items()},
    }


def data_card(manifest: Mapping[str, Any]) -> str:
    """The manifest's tables in Markdown."""
    lines = [
        "# A data set for hallucination judges",
        "",
        f"{manifest['samples']} samples about {manifest['documents']} documents, prompt version "
        f"{manifest['prompt_version']} (hash `{manifest['prompt_hash']}`). "
        "Splits are by document; a gold answer and its perturbed twin never part.",
    ]
    if manifest["edits_from_document"] is not None:
        lines.append(
            f"{manifest['edits_from_document']:.0%} of the edits bring in nothing new to the document."
        )
    for name, table in {**manifest["counts"], **manifest["rows"]}.items():
        if table:
            lines += ["", f"## {name}", "", "| what | number |", "| --- | --- |"]
            lines += [f"| {key} | {value} |" for key, value in table.items()]
    lines += ["", "## left out", "", "| reason | number |", "| --- | --- |"]
    lines += [f"| {reason} | {items['count']} |" for reason, items in manifest["dropped"].items()]
    return "\n".join(lines) + "\n"
