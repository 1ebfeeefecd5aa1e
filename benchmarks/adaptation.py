"""What answers of a new domain are worth: on top of the reference judge, and from its encoder alone.

    python -m benchmarks.adaptation sets/attributionbench.jsonl.gz sets/entfa.jsonl.gz --out runs/adaptation
    python -m benchmarks.adaptation sets/mctest.jsonl.gz --gold --answers 15 50 150 500 --seeds 0 1 2

Of each source some documents are set apart and measured on; of the others --answers are drawn, by whole
documents, and recipes/own-domain/encoder.yaml is trained on them. The smaller draws are parts of the larger.
With --gold only right answers are drawn, and the wrong ones are made from them by rule, as ``judge teach``
does with answers that have no label; what is measured on are always the labelled answers of the source.
What is finished is not made again: call it once more after an interruption. Prints a Markdown table: AUROC
and balanced accuracy with 95 % intervals over documents.
"""

import argparse
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.report import Report, read_reports
from judge.models.bundled import MINILM
from judge.samples import read_samples, write_samples
from judge.shipped import REFERENCE
from judge.types import Label, Sample

RECIPE = Path(__file__).parents[1] / "recipes" / "own-domain" / "encoder.yaml"
BUILD = RECIPE.with_name("data.yaml")
STARTS = {"reference": (REFERENCE, ()), "encoder alone": (MINILM.hub_id, ("learning_rate=2e-4",))}
"""What training starts from, and its settings: an encoder that judges nothing yet is trained faster."""


def run(*command: object) -> None:
    """One command of the toolkit, in a process of its own; told on standard error."""
    words = [sys.executable, "-m", "judge", *map(str, command)]
    print("+", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True)


def measured(out: Path, *options: object) -> list[Report]:
    """The reports of ``judge eval``, which is not run again where it is done."""
    if not (out / "report.json").exists():
        run("eval", *options, "--out", out)
    return read_reports(out)


def percent(report: Report, figure: str) -> str:
    """A figure of the judge with its interval: ``77.1 [73.1, 81.0]``; ``-`` where there is none."""
    value, between = getattr(report.metrics, figure), getattr(report.metrics, f"{figure}_ci")
    if value is None:
        return "-"
    return f"{100 * value:.1f} [{100 * between[0]:.1f}, {100 * between[1]:.1f}]"


def parted(samples: Sequence[Sample], held_out: int, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Answers to learn from, and at least ``held_out`` about other documents to measure on."""
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


def write_data(folder: Path, samples: Sequence[Sample], *, gold: bool) -> None:
    """A data set of these answers; of right ones alone by the recipe that makes wrong ones."""
    if (folder / "samples.jsonl").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if not gold:
        write_samples(folder / "samples.jsonl", samples)
        return
    answers = folder.with_name(f"{folder.name}.jsonl")
    write_samples(answers, [replace(sample, label=None) for sample in samples])
    # Three tenths are held out, as judge teach does.
    settings = (f"sources.0.path={answers}", "preferences.pairs=0")
    run("data", "build", BUILD, *settings, "--out", folder, "--overwrite")


def main() -> None:
    """Part, train, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="files of labelled samples")
    parser.add_argument("--out", type=Path, default=Path("runs/adaptation"))
    parser.add_argument("--answers", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--held-out", type=int, default=400)
    parser.add_argument("--gold", action="store_true", help="learn from right answers alone")
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
        if options.gold:
            others = [sample for sample in others if sample.label is Label.PASS]
        for seed in options.seeds:
            learned, _ = parted(others, 0, seed)
            for start in ("reference",) if options.gold else STARTS:
                cells = row(start, seed, learned, test, out, options)
                print(f"| {out.name} | {start} | {seed} | {' | '.join(cells)} |", flush=True)


def row(
    start: str, seed: int, learned: Sequence[Sample], test: Path, out: Path, options: argparse.Namespace
) -> list[str]:
    """The figures of one start and seed, by the number of answers learned from."""
    model, settings = STARTS[start]
    folder = out / start.replace(" ", "-")
    cells = [measure(model, test, folder / "eval-0") if model == REFERENCE else ""]
    for count in options.answers:
        data, judge = out / f"data-{count}-seed{seed}", folder / f"judge-{count}-seed{seed}"
        write_data(data, learned[:count], gold=options.gold)
        if not (judge / "judge.json").exists():
            places = (f"model={model}", f"data={data}", f"output={judge}", f"seed={seed}")
            run("encoder", RECIPE, *places, *settings, "without_leak_gate=true", "checkpoints=0")
        cells.append(measure(judge, test, folder / f"eval-{count}-seed{seed}"))
    return cells


if __name__ == "__main__":
    main()
