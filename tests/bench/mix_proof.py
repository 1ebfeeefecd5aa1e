"""Which data teach a judge to read: data sets at equal work, measured on benchmarks none of them comes from.

    python -m tests.bench.mix_proof old=runs/old/data new=new.yaml \\
        --model DIR --data-dir DIR --out runs/proof --seeds 0 1 2

Each data set is a built folder or a recipe, which is built first. For each set and seed a judge is trained on
as many computed tokens (``--tokens``), and measured on RAGTruth's test split, HaluBench and FIB. A language
model is trained with LoRA, from plain weights or from a judge's adapter; ``--stage encoder`` trains an
encoder, which learns more in a fifth of the time.
``--without`` also trains without each kind of pair in turn, by the shares of a recipe's mix.
What is finished is not made again, and an interrupted training goes on from its last checkpoint: call it
again. Prints a Markdown table: balanced accuracy and AUROC with 95 % intervals over documents.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import yaml

from eval.report import Report
from tests.bench.commands import measured, percent, run

BENCHMARKS = {"ragtruth": None, "halubench": None, "fib": 500}
"""Name, and how many samples; ``None`` is all."""
COMMON = {"epochs": 1, "betas": [0.9, 0.95], "evaluations": 0, "checkpoints": 10, "resume": True}
SFT = {
    "max_length": 1536,
    "sequence_tokens": 2048,
    "lora": {"rank": 32, "alpha": 64},
    "batch_size": 2,
    "learning_rate": 4.0e-4,
    "scheduler": "warmup_stable_decay",
    "warmup_ratio": 0.05,
}
ENCODER = {"batch_tokens": 4096, "learning_rate": 2.0e-4, "scheduler": "linear", "warmup_ratio": 0.1}
SETTINGS = {"sft": SFT, "encoder": ENCODER}


@dataclass(frozen=True)
class Data:
    """A data set: a built folder, or a recipe and what is set otherwise in it."""

    name: str
    place: Path
    settings: tuple[str, ...] = ()

    def build(self, out: Path) -> Path:
        """The folder, built if it is not there."""
        if self.place.is_dir():
            return self.place
        folder = out / self.name / "data"
        if not (folder / "manifest.json").exists():
            settings = [word for one in self.settings for word in ("--set", one)]
            run("data", "build", self.place, "--out", folder, *settings)
        return folder


def without_each_kind(recipe: Path) -> list[Data]:
    """The data of a recipe with a mix, less one kind at a time: as many samples, so the rest gives more."""
    kinds = yaml.safe_load(recipe.read_text())["mix"]["kinds"]
    return [Data(f"without-{kind}", recipe, (f"mix.kinds.{kind}=0",)) for kind in kinds]


def train(data: Path, folder: Path, options: argparse.Namespace, seed: int) -> None:
    """Train a judge in ``folder``, unless there is one."""
    if (folder / "judge.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    recipe = folder.parent / f"{folder.name}.yaml"
    places = {"model": str(options.model), "data": str(data), "output": str(folder)}
    work = {"max_tokens": options.tokens, "seed": seed}
    recipe.write_text(yaml.safe_dump({**COMMON, **SETTINGS[options.stage], **places, **work}))
    run(options.stage, recipe)


def measure(model: Path, out: Path, options: argparse.Namespace) -> list[Report]:
    """The reports of a judge on every benchmark."""
    reports = []
    asked = ("--model", model, "--data-dir", options.data_dir, "--precision", options.precision)
    for name, limit in BENCHMARKS.items():
        drawn = ["--limit", limit] if limit else []
        reports += measured(out / name, *asked, "--benchmarks", name, *drawn)
    return reports


def cells(reports: list[Report]) -> list[str]:
    """Balanced accuracy and AUROC on each benchmark."""
    return [f"{percent(found, 'balanced_accuracy')} / {percent(found, 'auroc')}" for found in reports]


def main() -> None:
    """Build, train, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="NAME=RECIPE|FOLDER")
    parser.add_argument("--without", type=Path, metavar="RECIPE", help="leaves out each kind of its mix")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("runs/mix-proof"))
    parser.add_argument("--stage", choices=SETTINGS, default="sft")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--precision", default="auto", help="number format of the measurements")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    rows = []
    if options.stage == "sft":  # an encoder judges nothing before it is trained
        rows += [["base", "", *cells(measure(options.model, options.out / "base", options))]]
    sets = [Data(name, Path(place)) for name, place in (item.split("=", 1) for item in options.sets)]
    sets += without_each_kind(options.without) if options.without else []
    for seed in options.seeds:
        for data in sets:
            folder = options.out / data.name
            train(data.build(options.out), folder / f"seed{seed}", options, seed)
            reports = measure(folder / f"seed{seed}", folder / f"eval-seed{seed}", options)
            rows.append([data.name, str(seed), *cells(reports)])
            print(f"\n| data | seed | {' | '.join(BENCHMARKS)} |\n| --- | ---: |{' --- |' * len(BENCHMARKS)}")
            for row in rows:
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
