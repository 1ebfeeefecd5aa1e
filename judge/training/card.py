"""What lies beside a trained judge's weights: ``judge.json`` for programs, a model card for people."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

from judge.files import sha256_file, write_json, write_text
from judge.prompts import LABEL_WORDS, BuiltinPrompt
from judge.training.config import TrainingConfig
from judge.types import MODES

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate")


def save_judge(
    model: Any, tokenizer: Any, recipe: TrainingConfig, summary: dict[str, Any], stage: str
) -> None:
    """Save weights (safetensors), tokenizer, ``judge.json`` and ``README.md`` into the recipe's folder."""
    folder = Path(recipe.output)
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    identity = judge_identity(recipe, summary, stage)
    write_json(folder / "judge.json", identity)
    write_text(folder / "README.md", model_card(identity))


def judge_identity(recipe: TrainingConfig, summary: dict[str, Any], stage: str) -> dict[str, Any]:
    """The content of ``judge.json``: how to ask this judge, and where it comes from."""
    manifest = Path(recipe.data) / "manifest.json"
    return {
        **BuiltinPrompt().describe(),
        "label_words": {language: dict(words) for language, words in LABEL_WORDS.items()},
        "modes": list(MODES),
        "stage": stage,
        "base_model": recipe.model,
        "data": recipe.data,
        "data_manifest_sha256": sha256_file(manifest) if manifest.is_file() else None,
        "recipe": recipe.model_dump(),
        "training": summary,
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def model_card(identity: dict[str, Any]) -> str:
    """A model card in Markdown with the front matter that the Hub reads."""
    training = identity["training"]
    settings = json.dumps(identity["recipe"], indent=2, ensure_ascii=False)
    versions = ", ".join(f"{name} {version}" for name, version in identity["versions"].items())
    numbers = "\n".join(
        f"| {name} | {value} |" for name, value in training.items() if not isinstance(value, list | dict)
    )
    return f"""---
base_model: {identity["base_model"]}
library_name: peft
pipeline_tag: text-generation
tags: [hallucination-detection, llm-as-a-judge, {identity["stage"]}]
---

# A hallucination judge ({identity["stage"]})

Reads a document, a question and an answer, and says whether the answer is faithful to the document
(`PASS`) or hallucinated (`FAIL`), with the probability of `FAIL`.

    judge check --model PATH --document document.txt --question "..." --answer "..."

Scores belong beside their floors: `judge eval --model PATH --benchmarks halubench,ragtruth`.

## Training

Started from `{identity["base_model"]}` on the data set `{identity["data"]}`
(manifest SHA-256 `{identity["data_manifest_sha256"]}`), prompt version {identity["prompt_version"]}
(hash `{identity["prompt_hash"]}`).

| what | value |
| --- | --- |
{numbers}

Versions: {versions}.

```json
{settings}
```
"""
