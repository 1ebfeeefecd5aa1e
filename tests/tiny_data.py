"""Tiny data sets, and recipes for short builds and trainings: towers and their heights."""

import json
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.files import write_jsonl
from judge.samples import write_samples
from judge.types import Label, Sample

if TYPE_CHECKING:
    from data_pipeline.config import DataConfig
    from judge.training.config import EncoderRecipe


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    """A file of JSON Lines with these rows."""
    write_jsonl(path, rows)
    return path


def tower_rows(documents: int) -> list[dict[str, Any]]:
    """A faithful and a hallucinated answer about each of this many short documents."""
    return [
        {
            "id": f"{number}-{label}",
            "document": f"Tower {number} is {number + 20} m high.",
            "question": "How high is it?",
            "answer": f"It is {number + 20 + (label == 'FAIL')} m high.",
            "label": label,
            "meta": {"spans": [{"text": f"{number + 21} m"}]},
        }
        for number in range(documents)
        for label in Label
    ]


def build_towers(folder: Path, documents: int, pairs: int) -> Path:
    """A built data set of :func:`tower_rows`."""
    from data_pipeline.build.pipeline import build
    from data_pipeline.config import DataConfig

    write_jsonl(folder / "samples.jsonl", tower_rows(documents))
    settings = {
        "output": str(folder / "data"),
        "sources": [{"kind": "file", "path": str(folder / "samples.jsonl")}],
        "perturb": False,
        "splits": {"validation": 0.2, "test": 0.2},
        "modes": {"verdict": 1.0, "reason": 0.25},
        "preferences": {"pairs": pairs, "reason_share": 0.25},
    }
    build(DataConfig.model_validate(settings))
    return folder / "data"


def labelled_recipe(folder: Path, samples: Iterable[Sample], /, **changes: Any) -> "DataConfig":
    """A recipe for ``folder/data`` of labelled samples as they are, with verdict rows and no more."""
    from data_pipeline.config import DataConfig

    write_samples(folder / "mine.jsonl", samples)
    settings = {
        "output": str(folder / "data"),
        "sources": [{"kind": "file", "path": str(folder / "mine.jsonl")}],
        "perturb": False,
        "audit": "off",
        "modes": {"reason": 0.0},
        "preferences": {"pairs": 0},
    }
    return DataConfig.model_validate({**settings, **changes})


def write_prompts(folder: Path, *splits: str) -> Path:
    """Six prompts with the right and the wrong reply, as rows and as pairs; every split holds them all."""
    prompts = [[{"role": "user", "content": f"Tower {n} is {n + 3} m high."}] for n in range(6)]
    right, wrong = ([{"role": "assistant", "content": word}] for word in ("PASS", "FAIL"))
    for split in splits:
        rows = [{"id": str(n), "prompt": prompt, "completion": right} for n, prompt in enumerate(prompts)]
        write_jsonl(folder / "sft" / f"{split}.jsonl", rows)
        pairs = [
            {"id": row["id"], "prompt": row["prompt"], "chosen": right, "rejected": wrong} for row in rows
        ]
        write_jsonl(folder / "dpo" / f"{split}.jsonl", pairs)
    return folder


def training(model: Path, data: Path, output: Path, /, **changes: Any) -> dict[str, Any]:
    """Values of a training recipe that takes a second with a tiny model."""
    return {
        "model": str(model),
        "data": str(data),
        "output": str(output),
        "without_leak_gate": True,
        "precision": "float32",
        "lora": {"rank": 4, "alpha": 8},
        "batch_size": 2,
        "max_steps": 2,
        "learning_rate": 1e-3,
        "evaluations": 0,
        **changes,
        "trainer": {"logging_steps": 1, **changes.get("trainer", {})},
    }


def encoder_recipe(model: Path, data: Path, output: Path, /, **changes: Any) -> "EncoderRecipe":
    """A recipe that trains a tiny encoder within seconds."""
    from judge.training.config import EncoderRecipe

    values = {
        "model": str(model), "data": str(data), "output": str(output), "without_leak_gate": True,
        "precision": "float32", "window_tokens": 64, "batch_tokens": 200, "learning_rate": 1e-2, "epochs": 2,
        "trainer": {"logging_steps": 1}, "evaluations": 0,
    }  # fmt: skip
    return EncoderRecipe.model_validate({**values, **changes})


def at_step(step: int, act: Callable[[Any], None] | None = None) -> Any:
    """A callback that acts once, at the end of a step; without an act it asks the run to stop."""
    from transformers import TrainerCallback

    class Once(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
            if state.global_step == step and act is not None:
                act(parts["model"])
            elif state.global_step == step:
                os.kill(os.getpid(), signal.SIGTERM)

    return Once()
