"""Two ways to read, trained for the same time on the same data: pages, and pairs of a plain cross-encoder.

    python -m benchmarks.pages_or_pairs --inference runs/reference/data-inference \\
        --documents runs/reference/data --samples my-sets/out/*.jsonl.gz --minutes 20 20 --seeds 0 1 2

Each judge learns inference from the first data set, then documents from the second, for a number of minutes
each. Nothing else should run on the machine: the clock decides how much is seen. What is finished is not made
again. Prints a Markdown table: AUROC on each file of samples with 95 % intervals over documents, and the
share of bundled probes in the right order.
"""

import argparse
from pathlib import Path

from benchmarks.adaptation import measured, percent, run
from judge.models.bundled import MINILM

RECIPE = Path(__file__).parents[1] / "recipes" / "reference" / "encoder.yaml"
SETTINGS = (
    "learning_rate=5e-5", "trainer.warmup_steps=200", "evaluations=0", "max_cut_share=1", "source_weights={}",
    "dressings=0",
)  # fmt: skip


def train(reads: str, seed: int, options: argparse.Namespace) -> Path:
    """A judge of both stages."""
    folder: Path = options.out / f"{reads}-seed{seed}"
    stages = (
        (MINILM.hub_id, options.inference, folder / "inference", "constant_with_warmup"),
        (folder / "inference", options.documents, folder / "documents", "linear"),
    )
    for (model, data, out, scheduler), minutes in zip(stages, options.minutes, strict=True):
        if not (out / "judge.json").is_file():
            run(
                "encoder", RECIPE, f"model={model}", f"data={data}", f"output={out}", f"reads={reads}",
                f"seed={seed}", f"scheduler={scheduler}", f"max_minutes={minutes}", *SETTINGS,
            )  # fmt: skip
    return folder / "documents"


def measure(judge: Path, options: argparse.Namespace) -> dict[str, str]:
    """The cells of one judge by row of the table."""
    cells = {}
    for file in options.samples:
        name = file.name.partition(".")[0]
        [report] = measured(
            judge.parent / name, "--model", judge, "--samples", file, "--limit", options.limit
        )
        cells[name] = percent(report, "auroc")
    [probes] = measured(judge.parent / "probes", "--model", judge, "--benchmarks", "probes")
    row = probes.figures["pairs"]["all"]
    order, low, high = (100 * (row[name] or 0) for name in ("right_order", "low", "high"))
    return {**cells, "probes, right order": f"{order:.1f} [{low:.1f}, {high:.1f}]"}


def main() -> None:
    """Train, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inference", type=Path, required=True, help="built data set of the first stage")
    parser.add_argument("--documents", type=Path, required=True, help="built data set of the second stage")
    parser.add_argument("--samples", type=Path, nargs="+", default=[], help="files of labelled samples")
    parser.add_argument("--limit", type=int, default=200, help="samples drawn from each file")
    parser.add_argument("--minutes", type=float, nargs=2, default=[20, 20], help="of each stage")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--out", type=Path, default=Path("runs/pages-or-pairs"))
    options = parser.parse_args()
    runs = [(reads, seed) for seed in options.seeds for reads in ("pages", "pairs")]
    columns = [measure(train(reads, seed, options), options) for reads, seed in runs]
    print(f"| set | {' | '.join(f'{reads}, seed {seed}' for reads, seed in runs)} |")
    print(f"| --- |{' ---: |' * len(runs)}")
    for name in columns[0]:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")


if __name__ == "__main__":
    main()
