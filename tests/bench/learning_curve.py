"""How a judge improves with training, by edit type, on the held-out documents of a built data set.

    python tests/bench/learning_curve.py --model runs/demo/model --data runs/demo/data --epochs 0.25 0.5 1 2

One training run with recipes/demo/sft.yaml, whose rate is constant after its warm-up, measured on the way.
Prints a Markdown table: balanced accuracy and AUROC in verdict mode, each edit type against the faithful
twins of the same answers.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from judge.backends.transformers import TransformersBackend
from judge.checker import Checker
from judge.configs import load_config
from judge.judge import Judge
from judge.models.weights import LoadedModel
from judge.samples import read_samples
from judge.training.config import SFTRecipe
from judge.training.sft import train_sft
from judge.types import Label, Sample

RECIPE = Path(__file__).parents[2] / "recipes" / "demo" / "sft.yaml"


def measure(judge: Checker, samples: Sequence[Sample]) -> dict[str, tuple[int, float, float]]:
    """Number of samples, balanced accuracy and AUROC over all samples and for each edit type."""
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    chances = {
        sample.id: verdict.p_fail or 0.0
        for sample, verdict in zip(samples, judge.iter_check(samples), strict=True)
    }
    by_type: dict[str, list[Sample]] = defaultdict(list)
    faithful = {sample.meta["pair"]: sample for sample in samples if sample.label is Label.PASS}
    for sample in samples:
        if sample.label is Label.FAIL:
            by_type[sample.meta["edit_type"]] += [sample, faithful[sample.meta["pair"]]]
    results = {}
    for name, members in [("all", list(samples)), *sorted(by_type.items())]:
        truth = [sample.label is Label.FAIL for sample in members]
        scores = [chances[sample.id] for sample in members]
        balanced = balanced_accuracy_score(truth, [score >= 0.5 for score in scores])
        results[name] = (len(members), float(balanced), float(roc_auc_score(truth, scores)))
    return results


class Curve(TrainerCallback):
    """Measures the model after given steps and prints the table so far."""

    def __init__(self, samples: Sequence[Sample], epochs: Sequence[float], context_length: int):
        self.samples = samples
        self.epochs = sorted(epochs)
        self.context_length = context_length
        self.points: list[tuple[str, str, dict[str, tuple[int, float, float]]]] = []
        self.seconds = 0.0
        self.resumed = time.perf_counter()

    def on_train_begin(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        self.measure("0 (base)", **objects)

    def on_step_end(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        steps = state.max_steps / self.epochs[-1]  # of one epoch
        for epoch in self.epochs:
            if state.global_step == round(epoch * steps):
                self.measure(f"{epoch:g} ({state.global_step} steps)", **objects)

    def measure(self, title: str, model: Any, processing_class: Any, **_: Any) -> None:
        """Add a point. The time it takes does not count as training."""
        self.seconds += time.perf_counter() - self.resumed
        loaded = LoadedModel(model, processing_class, title, None, self.context_length)
        results = measure(Judge(TransformersBackend(loaded), title), self.samples)
        model.train()
        self.points.append((title, f"{self.seconds / 60:.1f}", results))
        names = list(results)
        header = [f"{name} ({results[name][0]})" for name in names]
        print(f"\n| epochs | minutes | {' | '.join(header)} |\n| --- | --- |{' --- |' * len(names)}")
        for title, took, found in self.points:
            cells = [f"{100 * found[name][1]:.1f} / {found[name][2]:.2f}" for name in names]
            print(f"| {title} | {took} | {' | '.join(cells)} |", flush=True)
        self.resumed = time.perf_counter()


def main() -> None:
    """Train, and measure on the way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True, help="base model")
    parser.add_argument("--data", type=Path, required=True, help="built data set with test.jsonl")
    parser.add_argument("--epochs", type=float, nargs="+", default=[0.25, 0.5, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("runs/learning-curve"))
    arguments = parser.parse_args()
    overrides = {
        "model": arguments.model,
        "data": arguments.data,
        "output": arguments.out,
        "epochs": max(arguments.epochs),
        "max_minutes": "null",
    }
    recipe = load_config(SFTRecipe, RECIPE, [f"{key}={value}" for key, value in overrides.items()])
    samples = list(read_samples(arguments.data / "test.jsonl"))
    train_sft(recipe, [Curve(samples, arguments.epochs, recipe.max_length)])


if __name__ == "__main__":
    main()
