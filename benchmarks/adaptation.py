"""The value of labelled answers from a new domain, on top of the reference judge or of its plain encoder.

    python -m benchmarks.adaptation sets/attributionbench.jsonl.gz sets/entfa.jsonl.gz --out runs/adaptation

Some documents of each source are held out for evaluation. From the others --answers answers are drawn, by
whole documents, and recipes/own-domain/encoder.yaml is trained on them. Smaller draws are subsets of larger
ones. Finished runs are skipped, so call it again after an interruption. Prints a Markdown table: AUROC and
balanced accuracy with 95 % intervals over documents.
"""

import argparse
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from eval.report import Report, read_reports
from judge.models.bundled import MINILM
from judge.samples import read_samples, write_samples
from judge.shipped import REFERENCE
from judge.types import Sample

RECIPE = Path(__file__).parents[1] / "recipes" / "own-domain" / "encoder.yaml"
STARTS = {"reference": (REFERENCE, ()), "encoder alone": (MINILM.hub_id, ("learning_rate=2e-4",))}
"""Starting models with their training settings: an encoder that is not a judge yet gets a higher rate."""


def run(*command: object) -> None:
    """Run a command of the toolkit in a separate process, and log it on standard error."""
    words = [sys.executable, "-m", "judge", *map(str, command)]
    print("+", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True)


def measured(out: Path, *options: object) -> list[Report]:
    """The reports of ``judge eval``, which is skipped if it is already done."""
    if not (out / "report.json").exists():
        run("eval", *options, "--out", out)
    return read_reports(out)


def percent(report: Report, figure: str) -> str:
    """A figure of the judge with its interval: ``77.1 [73.1, 81.0]``; ``-`` if there is none."""
    value, between = getattr(report.metrics, figure), getattr(report.metrics, f"{figure}_ci")
    if value is None:
        return "-"
    return f"{100 * value:.1f} [{100 * between[0]:.1f}, {100 * between[1]:.1f}]"


def parted(samples: Sequence[Sample], held_out: int, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Answers to train on, and at least ``held_out`` answers about other documents for evaluation."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.group].append(sample)
    order = random.Random(seed).sample(sorted(groups), len(groups))
    measured: list[Sample] = []
    while len(measured) < held_out:
        measured += groups[order.pop()]
    return [sample for group in order for sample in groups[group]], measured


def measure(model: object, samples: Path, out: Path) -> str:
    """AUROC and balanced accuracy of a judge."""
    [report] = measured(out, "--model", model, "--samples", samples)
    return f"{percent(report, 'auroc')} / {percent(report, 'balanced_accuracy')}"


def main() -> None:
    """Split, train, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="files of labelled samples")
    parser.add_argument("--out", type=Path, default=Path("runs/adaptation"))
    parser.add_argument("--answers", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--held-out", type=int, default=400)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the draw and of the training")
    options = parser.parse_args()
    print(f"| source | start | seed | 0 | {' | '.join(map(str, options.answers))} |")
    print(f"| --- | --- | --- | {' | '.join('---' for _ in (0, *options.answers))} |", flush=True)
    for source in options.sources:
        out = options.out / source.name.partition(".")[0]
        others, kept_out = parted(list(read_samples(source)), options.held_out, seed=0)
        test = out / "test.jsonl"
        out.mkdir(parents=True, exist_ok=True)
        write_samples(test, kept_out)
        for seed in options.seeds:
            learned, _ = parted(others, 0, seed)
            for start in STARTS:
                cells = row(start, seed, learned, test, out, options)
                print(f"| {out.name} | {start} | {seed} | {' | '.join(cells)} |", flush=True)


def row(
    start: str, seed: int, learned: Sequence[Sample], test: Path, out: Path, options: argparse.Namespace
) -> list[str]:
    """The figures of one starting model and seed, by the number of training answers."""
    model, settings = STARTS[start]
    folder = out / start.replace(" ", "-")
    cells = [measure(model, test, folder / "eval-0") if model == REFERENCE else ""]
    for count in options.answers:
        data, judge = out / f"data-{count}-seed{seed}", folder / f"judge-{count}-seed{seed}"
        if not (data / "samples.jsonl").exists():
            data.mkdir(parents=True, exist_ok=True)
            write_samples(data / "samples.jsonl", learned[:count])
        if not (judge / "judge.json").exists():
            places = (f"model={model}", f"data={data}", f"output={judge}", f"seed={seed}")
            run("encoder", RECIPE, *places, *settings, "without_leak_gate=true", "checkpoints=0")
        cells.append(measure(judge, test, folder / f"eval-{count}-seed{seed}"))
    return cells


if __name__ == "__main__":
    main()
