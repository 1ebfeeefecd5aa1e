"""What a judge is worth on a source that it never saw: sources left out of training, and measured on.

    python -m tests.bench.leave_out runs/all/data --model BERT --out runs/leave-out \\
        --without squad2+xquad,attributionbench --without ragtruth_qa,factcg

Each ``--without`` is a judge trained without these sources, in the two stages of recipes/reference-encoder
(``--kind lm``: recipes/smollm2-judge, ``qwen``: recipes/qwen-judge); what stands behind a ``+`` is kin of the
source before it, leaves with it and is not measured. Of each source ``--limit`` samples are measured,
labelled ones as they came and no twins made by rule. What is finished is not made again. Prints a Markdown
table: balanced accuracy and AUROC with 95 % intervals over documents, and floors that were fitted on other
documents of the very source.

    ... --calibrate JUDGE

makes a calibrated judge as sure as these judges may be on the sources that they never saw, since that is what
it will meet; its labels stay. The errors that it prints are of each source by a curve that was fitted to
other sources.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import yaml

from eval.verdicts import VERDICTS, verdict_from_row
from judge.calibration.curve import Curve, NeverSeen, read_calibrations
from judge.calibration.fit import fit_curve
from judge.calibration.reliability import calibration_error
from judge.files import JUDGE_FILE, read_jsonl, write_json
from judge.models.identity import read_identity
from judge.samples import read_samples, write_samples
from tests.bench.commands import measured, percent, run

RECIPES = Path(__file__).parents[2] / "recipes"
STAGES = {
    "encoder": (
        ("encoder", "reference-encoder/encoder-short.yaml"),
        ("encoder", "reference-encoder/encoder.yaml"),
    ),
    "lm": (("sft", "smollm2-judge/sft-short.yaml"), ("sft", "smollm2-judge/sft.yaml")),
    "qwen": (("sft", "qwen-judge/sft-short.yaml"), ("sft", "qwen-judge/sft.yaml")),
}
"""By kind of judge: the command and the recipe of each stage."""
Told = tuple[list[float], list[bool]]
"""Raw probabilities of FAIL, and whether it was FAIL."""


def train(folder: Path, left_out: Sequence[str], options: argparse.Namespace) -> Path:
    """The folder of a judge trained without some sources."""
    model: object = options.model
    long_data = options.long_data or options.data
    stages = zip(
        STAGES[options.kind], (options.data, long_data), (options.short_tokens, options.tokens), strict=True
    )
    for (command, name), data, tokens in stages:
        recipe = RECIPES / name
        output = folder / recipe.stem
        if not (output / "judge.json").exists():
            kept = yaml.safe_load(recipe.read_text(encoding="utf-8")).get("source_weights", {})
            weights = json.dumps({**kept, **dict.fromkeys(left_out, 0)})
            places = (f"model={model}", f"data={data}", f"output={output}", f"seed={options.seed}")
            drawn = (f"source_weights={weights}", f"max_tokens={tokens}", "without_leak_gate=true")
            run(command, recipe, *places, *drawn, "resume=true")
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


def found_without(folders: Sequence[Path]) -> NeverSeen:
    """How sure judges may be on what they never saw, of their verdicts in result folders, a source each."""
    told = [of_source(folder) for folder in folders]
    held_out = []
    for number, (chances, _) in enumerate(told):
        curve = curve_of([source for place, source in enumerate(told) if place != number])
        held_out += [curve(chance) for chance in chances]
    raw, fails = pooled(told)
    return NeverSeen(
        temperature=curve_of(told).temperature,
        samples=len(raw),
        sources=len(folders),
        ece_before=calibration_error(raw, fails) or 0.0,
        ece_after=calibration_error(held_out, fails) or 0.0,
    )


def curve_of(told: Sequence[Told]) -> Curve:
    """The curve of some sources together."""
    return fit_curve("platt", *pooled(told))


def pooled(told: Sequence[Told]) -> Told:
    """Some sources as one."""
    return [p for chances, _ in told for p in chances], [fail for _, fails in told for fail in fails]


def of_source(folder: Path) -> Told:
    """What a result folder tells of a source."""
    rows = [row for _, row in read_jsonl(folder / VERDICTS)]
    told = [(chance, row) for row in rows if (chance := verdict_from_row(row).p_fail) is not None]
    return [chance for chance, _ in told], [row["label"] == "FAIL" for _, row in told]


def calibrate(judge: Path, found: NeverSeen) -> None:
    """Keep that in the judge.json of a calibrated judge."""
    calibrations = read_calibrations(str(judge))
    if "verdict" not in calibrations:
        raise SystemExit(
            f"{judge} has no calibration; judge calibrate fits one, which says where FAIL begins"
        )
    kept = calibrations["verdict"].for_never_seen(found)
    identity = read_identity(str(judge))
    identity["calibration"]["verdict"] = kept.model_dump(mode="json")
    write_json(judge / JUDGE_FILE, identity)
    print(
        f"\n{judge}: temperature {found.temperature:.2f}; calibration error before {found.ece_before:.3f}, "
        f"after {found.ece_after:.3f}"
    )


def main() -> None:
    """Train without, measure on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, help="a built data set with all sources")
    parser.add_argument("--without", action="append", required=True, metavar="SOURCE[+KIN...],...")
    parser.add_argument("--kind", choices=list(STAGES), default="encoder")
    parser.add_argument("--long-data", type=Path, help="for the second stage; the same by default")
    parser.add_argument("--model", required=True, help="folder or Hub id to start from")
    parser.add_argument("--out", type=Path, default=Path("runs/leave-out"))
    parser.add_argument("--short-tokens", type=int, default=2_200_000)
    parser.add_argument("--tokens", type=int, default=3_000_000)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--precision", default="float32", help="of judging")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calibrate", type=Path, metavar="JUDGE", help="a folder")
    options = parser.parse_args()
    print("| source | n | balanced accuracy | AUROC | AUROC of overlap | best other floor |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    means, folders = [], []
    for number, families in enumerate(text.split(",") for text in options.without):
        left_out = [source for family in families for source in family.split("+")]
        judge = train(options.out / f"without-{number}", left_out, options)
        for source in (family.split("+")[0] for family in families):
            file = samples_of(source, options.data, options.out / "samples")
            asked = ("--samples", file, "--limit", options.limit, "--precision", options.precision)
            folders.append(options.out / f"eval-{number}" / source)
            [report] = measured(folders[-1], "--model", judge, *asked)
            floors = {name: found.auroc or 0.5 for name, found in report.floors.items()}
            overlap = floors.pop("floor:overlap")
            best = max(floors, key=lambda name: floors[name])
            means.append((report.metrics.auroc or 0.5, overlap, floors[best]))
            figures = f"{percent(report, 'balanced_accuracy')} | {percent(report, 'auroc')}"
            beside = f"{100 * overlap:.1f} | {100 * floors[best]:.1f} ({best.removeprefix('floor:')})"
            print(f"| {source} | {report.metrics.n} | {figures} | {beside} |", flush=True)
    auroc, overlap, other = (100 * sum(column) / len(means) for column in zip(*means, strict=True))
    print(f"| mean | | | {auroc:.1f} | {overlap:.1f} | {other:.1f} |")
    if options.calibrate:
        calibrate(options.calibrate, found_without(folders))


if __name__ == "__main__":
    main()
