"""What a judge is worth on a source that it never saw: sources left out of training, and measured on.

    python -m tests.bench.leave_out runs/all/data --model BERT --out runs/leave-out \\
        --without squad2+xquad,attributionbench --without ragtruth_qa,factcg

Each ``--without`` is a judge trained without these sources, in the two stages of recipes/reference-encoder;
what stands behind a ``+`` is kin of the source before it, leaves with it and is not measured. Of each source
``--limit`` samples are measured, labelled ones as they came and no twins made by rule. What is finished is
not made again. Prints a Markdown table: balanced accuracy and AUROC with 95 % intervals over documents, and
floors that were fitted on other documents of the very source.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from judge.samples import read_samples, write_samples
from tests.bench.commands import measured, percent, run

RECIPES = Path(__file__).parents[2] / "recipes" / "reference-encoder"


def train(data: Path, folder: Path, left_out: Sequence[str], options: argparse.Namespace) -> Path:
    """The folder of a judge trained without some sources."""
    weights = "{" + ", ".join(f"{name}: 0" for name in left_out) + "}"
    model: object = options.model
    for stage, tokens in (("encoder-short", options.short_tokens), ("encoder", options.tokens)):
        output = folder / stage
        if not (output / "judge.json").exists():
            places = (f"model={model}", f"data={data}", f"output={output}", f"seed={options.seed}")
            drawn = (f"source_weights={weights}", f"max_tokens={tokens}", "without_leak_gate=true")
            run(
                "encoder", RECIPES / f"{stage}.yaml", *places, *drawn, "resume=true", "without_leak_gate=true"
            )
        model = output
    return output


def samples_of(source: str, data: Path, folder: Path) -> Path:
    """A file of the labelled samples of a source, without twins."""
    file = folder / f"{source}.jsonl"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept = (one for one in read_samples(data / "samples.jsonl", check_ids=False) if one.source == source)
        write_samples(file, (one for one in kept if one.label and not one.meta.get("kind")))
    return file


def main() -> None:
    """Train without, measure on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, help="a built data set with all sources")
    parser.add_argument("--without", action="append", required=True, metavar="SOURCE[+KIN...],...")
    parser.add_argument("--model", required=True, help="folder or Hub id of a BERT to start from")
    parser.add_argument("--out", type=Path, default=Path("runs/leave-out"))
    parser.add_argument("--short-tokens", type=int, default=2_200_000)
    parser.add_argument("--tokens", type=int, default=3_000_000)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| source | n | balanced accuracy | AUROC | AUROC of overlap | best other floor |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    means = []
    for number, families in enumerate(text.split(",") for text in options.without):
        left_out = [source for family in families for source in family.split("+")]
        judge = train(options.data, options.out / f"without-{number}", left_out, options)
        for source in (family.split("+")[0] for family in families):
            file = samples_of(source, options.data, options.out / "samples")
            asked = ("--model", judge, "--samples", file, "--limit", options.limit)
            [report] = measured(options.out / f"eval-{number}" / source, *asked)
            floors = {name: found.auroc or 0.5 for name, found in report.floors.items()}
            overlap = floors.pop("floor:overlap")
            best = max(floors, key=lambda name: floors[name])
            means.append((report.metrics.auroc or 0.5, overlap, floors[best]))
            figures = f"{percent(report, 'balanced_accuracy')} | {percent(report, 'auroc')}"
            beside = f"{100 * overlap:.1f} | {100 * floors[best]:.1f} ({best.removeprefix('floor:')})"
            print(f"| {source} | {report.counts['all']} | {figures} | {beside} |", flush=True)
    auroc, overlap, other = (100 * sum(column) / len(means) for column in zip(*means, strict=True))
    print(f"| mean | | | {auroc:.1f} | {overlap:.1f} | {other:.1f} |")


if __name__ == "__main__":
    main()
