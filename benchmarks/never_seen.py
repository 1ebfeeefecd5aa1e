"""Measures how confident a judge may be on unseen sources, and stores the result in its judge.json.

    python -m benchmarks.never_seen runs/reference/seed0/whole runs/reference/seed0/judge \\
        my-sets/apart/*.jsonl.gz --out runs/never-seen

The first folder is the judge without a calibration, the second the same judge calibrated. The files hold
labelled samples of sources that it was not trained on and that are not used for evaluation later. The
log-odds of its verdicts are divided by the temperature that fits all these sources; labels do not change.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.adaptation import measured
from eval.calibration import scored
from eval.verdicts import first_run
from judge.calibration.curve import Curve, NeverSeen, read_calibrations
from judge.calibration.fit import fit_curve
from judge.calibration.reliability import calibration_error
from judge.files import JUDGE_FILE, write_json
from judge.models.identity import read_identity
from judge.types import Label

Told = tuple[list[float], list[bool]]
"""Probabilities of FAIL, and whether the answers are hallucinated."""


def of_source(folder: Path) -> Told:
    """Probabilities and labels of one source, from a result folder of ``judge eval``."""
    rows, verdicts = zip(*first_run(folder), strict=True)
    return scored([Label(row["label"]) for row in rows], verdicts)


def pooled(told: Sequence[Told]) -> Told:
    """Several sources as one."""
    return [p for chances, _ in told for p in chances], [fail for _, fails in told for fail in fails]


def curve_of(told: Sequence[Told]) -> Curve:
    """The curve of some sources together."""
    return fit_curve("platt", *pooled(told))


def found(told: Sequence[Told]) -> NeverSeen:
    """The temperature of all sources; the error of each source uses a curve fitted to the others."""
    held_out = []
    for number, (chances, _) in enumerate(told):
        curve = curve_of([source for place, source in enumerate(told) if place != number])
        held_out += [curve(chance) for chance in chances]
    raw, fails = pooled(told)
    return NeverSeen(
        temperature=curve_of(told).temperature,
        samples=len(raw),
        sources=len(told),
        ece_before=calibration_error(raw, fails) or 0.0,
        ece_after=calibration_error(held_out, fails) or 0.0,
    )


def main() -> None:
    """Judge the sources, fit the temperature, store it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("plain", type=Path, help="the judge without a calibration")
    parser.add_argument("judge", type=Path, help="the calibrated judge, whose judge.json is changed")
    parser.add_argument("samples", type=Path, nargs="+", help="files of labelled samples, a source each")
    parser.add_argument("--limit", type=int, default=300, help="samples drawn from each file")
    parser.add_argument("--out", type=Path, default=Path("runs/never-seen"))
    options = parser.parse_args()
    told = []
    for file in options.samples:
        folder = options.out / file.name.partition(".")[0]
        measured(folder, "--model", options.plain, "--samples", file, "--limit", options.limit)
        told.append(of_source(folder))
    kept = read_calibrations(str(options.judge))
    if "verdict" not in kept:
        raise SystemExit(f"{options.judge} has no calibration; run judge calibrate first")
    seen = found(told)
    identity = read_identity(str(options.judge))
    identity["calibration"]["verdict"] = kept["verdict"].for_never_seen(seen).model_dump(mode="json")
    write_json(options.judge / JUDGE_FILE, identity)
    print(seen.model_dump_json(indent=2))


if __name__ == "__main__":
    main()
