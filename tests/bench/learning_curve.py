"""How a judge improves with training, by edit type, on the held-out documents of a built data set.

    python tests/bench/learning_curve.py --model runs/demo/model --data runs/demo/data --epochs 0.25 0.5 1 2

Every point is a training run of its own with recipes/demo/sft.yaml, its schedule included, from the same base
model and seed. Prints a Markdown table: balanced accuracy and AUROC in verdict mode, each edit type against
the faithful twins of the same answers.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from judge.configs import load_config
from judge.judge import load_judge
from judge.loading import default_precision
from judge.samples import read_samples
from judge.training.config import SFTRecipe
from judge.training.sft import train_sft
from judge.types import Label, Sample

RECIPE = Path(__file__).parents[2] / "recipes" / "demo" / "sft.yaml"


def measure(model: str, samples: Sequence[Sample]) -> dict[str, tuple[int, float, float]]:
    """Number of samples, balanced accuracy and AUROC over all samples and for each edit type."""
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    judge = load_judge(model, precision=default_precision(training=True))
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


def main() -> None:
    """Train and measure every point, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True, help="base model")
    parser.add_argument("--data", type=Path, required=True, help="built data set with test.jsonl")
    parser.add_argument("--epochs", type=float, nargs="+", default=[0.25, 0.5, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("runs/learning-curve"))
    arguments = parser.parse_args()
    samples = list(read_samples(arguments.data / "test.jsonl"))

    points: list[tuple[str, str, dict[str, tuple[int, float, float]]]] = [
        ("0 (base)", "0", measure(arguments.model, samples))
    ]
    for epochs in arguments.epochs:
        output = arguments.out / f"epochs-{epochs:g}"
        overrides = [
            f"model={arguments.model}",
            f"data={arguments.data}",
            f"output={output}",
            f"epochs={epochs}",
        ]
        start = time.perf_counter()
        train_sft(load_config(SFTRecipe, RECIPE, overrides))
        minutes = (time.perf_counter() - start) / 60
        points.append((f"{epochs:g}", f"{minutes:.1f}", measure(str(output), samples)))
        names = list(points[0][2])
        header = [f"{name} ({points[0][2][name][0]})" for name in names]
        print(f"\n| epochs | minutes | {' | '.join(header)} |\n| --- | --- |{' --- |' * len(names)}")
        for title, took, results in points:
            cells = [f"{100 * results[name][1]:.1f} / {results[name][2]:.2f}" for name in names]
            print(f"| {title} | {took} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
