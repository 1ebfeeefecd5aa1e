"""The files next to a trained judge's weights: ``judge.json`` for programs, a model card for people."""

import importlib.metadata
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from judge.files import read_json, sha256_file
from judge.models.base import describe_base, find_model
from judge.models.identity import ENCODER, SECOND, read_identity, rounded_base
from judge.prompting.prompts import LABEL_WORDS, BuiltinPrompt
from judge.training.arguments import precision_of
from judge.training.config import RunConfig
from judge.training.gate import gate_record
from judge.types import MODES, Mode

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate")


def judge_identity(recipe: RunConfig, summary: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The content of ``judge.json`` for a language model: how to prompt this judge, and its origin.

    Takes the arguments of :func:`run_identity`.
    """
    manifest = Path(recipe.data) / "manifest.json"
    identity = {
        **BuiltinPrompt().describe(),
        "label_words": {language: dict(words) for language, words in LABEL_WORDS.items()},
        "modes": taught_modes(manifest) if manifest.is_file() else list(MODES),
        **run_identity(recipe, summary, run),
    }
    learned = identity["data_counts"].get("language", ())
    return identity | {"languages": languages_after(recipe, learned)} if learned else identity


def encoder_identity(
    reads: dict[str, Any],
    languages: list[str],
    recipe: RunConfig,
    summary: dict[str, Any],
    run: dict[str, Any],
) -> dict[str, Any]:
    """The content of ``judge.json`` for an encoder: how it reads samples (``reads``), and its origin."""
    read = {**reads, "modes": ["verdict"], "languages": languages}
    return {**read, **run_identity(recipe, summary, run)}


def languages_after(recipe: RunConfig, learned: Iterable[str]) -> list[str]:
    """A judge's languages: those of its training, and those that the judge it started from had learned."""
    return sorted({*learned, *read_identity(recipe.model).get("languages", ())})


def run_identity(recipe: RunConfig, summary: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """The part of ``judge.json`` about the training run, for judges of any kind.

    Args:
        recipe: the training recipe.
        summary: figures of the run.
        run: what determined the weights, see :func:`judge.training.checkpoints.describe_run`.
    """
    manifest = Path(recipe.data) / "manifest.json"
    return {
        "stage": run["stage"],
        **start_of(recipe.model, Path(recipe.output)),
        "precision": precision_of(recipe),
        "data": recipe.data,
        "data_manifest_sha256": sha256_file(manifest) if manifest.is_file() else None,
        "data_sha256": run["data"],
        "start_fingerprint": run["start"],
        "data_counts": data_counts(manifest) if manifest.is_file() else {},
        "processes": run["processes"],
        "recipe": recipe.model_dump(mode="json"),
        "training": summary,
        "versions": installed_versions(),
    }


def installed_versions() -> dict[str, str]:
    """Versions of the training libraries that are installed; an encoder does not need TRL."""
    found = {}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def start_of(model: str, output: Path) -> dict[str, Any]:
    """The base model of a run, and the judge that the run started from, if any: an adapter or an encoder.

    ``rounded_base`` marks weights that were rounded to 4 bits once, so that they are not rounded again.
    """
    identity = read_identity(model)
    if identity.get("stage") == ENCODER:
        base_model = identity.get("base_model", model)
        # Trained on one domain, both know its short documents.
        second = {SECOND: {**identity[SECOND], "short_documents": 0}} if SECOND in identity else {}
        return {"base_model": base_model, "base": {"name": base_model}, "started_from": model, **second}
    name, adapter = find_model(model)
    base = describe_base(name, output)
    known: dict[str, Any] = {"base_model": base["name"], "base": base}
    if adapter is not None:
        known["started_from"] = adapter
    if rounded := rounded_base(identity):
        known["rounded_base"] = rounded
    return known


def taught_modes(manifest: Path) -> list[Mode]:
    """The modes for which a data set has SFT rows; as-printed recipes of papers only teach reason mode."""
    rows = read_json(manifest).get("rows", {}).get("sft/train", {})
    return [mode for mode in MODES if any(name.startswith(f"{mode} ") for name in rows)] or list(MODES)


def data_counts(manifest: Path) -> dict[str, Any]:
    """A data set's size, its mixture, and the benchmarks it was compared with, from its manifest."""
    values = read_json(manifest)
    counts: dict[str, Any] = {name: values[name] for name in ("documents", "samples") if name in values}
    for name, rows in values.get("rows", {}).items():
        counts[f"{name} rows"] = rows["total"]
    for column in ("label", "language", "task", "source"):
        if values.get("counts", {}).get(column):
            counts[column] = values["counts"][column]
    leaks = gate_record(values, manifest)
    counts["compared with"] = ", ".join(leaks["benchmarks"]) if leaks else "no benchmark (leak gate not run)"
    return counts


def model_card(identity: dict[str, Any]) -> str:
    """A model card in Markdown with the front matter that the Hub reads."""
    training, recipe = identity["training"], identity["recipe"]
    encoder = identity["stage"] == ENCODER  # its adapters are merged when it is saved
    adapter = recipe.get("lora") is not None and "merged_from" not in identity and not encoder
    kind = "text-classification" if encoder else "text-generation"
    settings = json.dumps(recipe, indent=2, ensure_ascii=False)
    versions = ", ".join(f"{name} {version}" for name, version in identity["versions"].items())
    return f"""---
base_model: {identity["base_model"]}
library_name: {"peft" if adapter else "transformers"}
pipeline_tag: {kind}
tags: [hallucination-detection, llm-as-a-judge, {identity["stage"]}]
---

# A hallucination judge ({identity["stage"]})

Reads a document, a question and an answer, and says whether the answer is faithful to the document
(`PASS`) or hallucinated (`FAIL`), with the probability of `FAIL`.

    judge check --model PATH --document @document.txt --question "..." --answer "..."

Read scores next to the baselines: `judge eval --model PATH --benchmarks halubench,ragtruth`.
{_validation(training.get("best"))}
## Training

Started from `{identity.get("started_from", identity["base_model"])}` on the data set `{identity["data"]}`
({_manifest(identity)}prompt version {identity["prompt_version"]},
hash `{identity["prompt_hash"]}`).{_merged(identity)}{_averaged(identity)}{_beside(identity)}

{_table(training)}

## Data

{_table(identity.get("data_counts", {}))}

## Settings

Versions: {versions}.

```json
{settings}
```
"""


def _manifest(identity: dict[str, Any]) -> str:
    """The checksum of the data set's manifest, to go before other facts; empty if it has none."""
    digest = identity.get("data_manifest_sha256")
    return f"manifest SHA-256 `{digest}`, " if digest else ""


def _merged(identity: dict[str, Any]) -> str:
    """A sentence on the number format of merged weights; empty for others."""
    if "merged_dtype" not in identity:
        return ""
    return f" Adapter and base were merged in float32, and stored in {identity['merged_dtype']}."


def _averaged(identity: dict[str, Any]) -> str:
    """A sentence on the judges that the weights are the mean of; empty for others."""
    averaged = identity.get("packed", {}).get("mean_of")
    if averaged is None:
        return ""
    sets = len({json.dumps(one.get("data_sha256")) for one in averaged})
    seeds = ", ".join(sorted({str(one["seed"]) for one in averaged}))
    text = f"{len(averaged)} judges trained on {sets} data set{'s' * (sets > 1)} (seed {seeds})"
    return f"\nThe weights are the mean of {text}; the table is of the first."


def _beside(identity: dict[str, Any]) -> str:
    """A sentence on the second judge; empty if there is none."""
    if SECOND not in identity:
        return ""
    weight, short = identity[SECOND]["weight"], identity[SECOND].get("short_documents")
    where = f" except of documents under {short} words without a question" if short else ""
    return f"\nA second judge, in `{SECOND}`, has {weight:g} of the log-odds{where}."


def _validation(best: dict[str, Any] | None) -> str:
    """The section on the best evaluation; empty if the run had none."""
    if best is None:
        return ""
    text = (
        "Its weights are the ones kept, so these figures flatter: they were chosen by them."
        if best["kept"]
        else "The weights of the last step are the ones kept."
    )
    measures = {"step": best["step"]}
    if "loss" in best:
        measures["loss"] = round(best["loss"], 4)
    if "samples" in best:
        measures["samples judged"] = best["samples"]
    for name in ("balanced_accuracy", "auroc", "coverage"):
        if name in best:
            measures[name.replace("_", " ")] = f"{100 * best[name]:.1f} %"
    return f"\n## Validation\n\nThe best evaluation while training. {text}\n\n{_table(measures)}\n"


def _table(values: dict[str, Any]) -> str:
    """A Markdown table of numbers and texts; a dictionary fills one row; lists are left out."""
    lines = ["| what | value |", "| --- | --- |"]
    for name, value in values.items():
        if name == "best" or isinstance(value, list):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{key} {number:,}" for key, number in value.items())
        lines.append(f"| {name} | {value} |")
    return "\n".join(lines)
