"""A small world to train on: towers and their heights as a data set, and a recipe for a short training."""

from pathlib import Path
from typing import Any

from judge.files import write_jsonl
from judge.types import Label


def build_towers(folder: Path, documents: int, pairs: int) -> Path:
    """A built data set about so many short documents, each with a faithful and a hallucinated answer."""
    from data_pipeline.build.pipeline import build
    from data_pipeline.config import DataConfig

    rows = [
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
    write_jsonl(folder / "samples.jsonl", rows)
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
        "logging_steps": 1,
        "evaluations": 0,
        **changes,
    }
