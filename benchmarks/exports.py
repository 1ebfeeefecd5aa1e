"""Compares exported judges with the originals: size, parity and speed, on short answers of RAGTruth.

    python -m benchmarks.exports reference runs/my-judge --data-dir DIR
    python -m benchmarks.exports runs/my-judge --data-dir DIR --server http://localhost:8080/v1

Needs the extras export and, for GGUF, llama. Each judge is exported in every format it supports; original and
exports judge the same samples of the test split, in one run. Prints a Markdown table: file size, changed
labels, mean and largest difference of p_fail from the original in float32, samples per second of processor
time.

``--server`` asks a llama.cpp server that runs the judge's GGUF file, like ``--backend openai``.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.sampling import take
from judge.checker import Checker
from judge.exports import export_judge
from judge.exports.export import TYPES
from judge.exports.parity import parity
from judge.formats.ragtruth import load
from judge.load import load_judge
from judge.models.identity import ENCODER, read_identity
from judge.models.runtimes import EXPORT
from judge.types import Sample, Verdict

HEAD = """
| judge | runtime | format | MB | labels changed | mean difference | largest | passed | samples/s |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: |"""


def judged(judge: Checker, samples: Sequence[Sample]) -> tuple[list[Verdict], float]:
    """Verdicts, and samples per second of processor time, which other programs do not affect."""
    judge.check(samples[:2])  # the setup in the first call does not count
    start = time.process_time()
    verdicts = judge.check(samples)
    return verdicts, len(samples) / (time.process_time() - start)


def raw(judge: Checker) -> Checker:
    """The judge without its calibration, which is the same in all runtimes."""
    return replace(judge, calibrations={})  # type: ignore[type-var]


def bench(
    model: str, kinds: Sequence[str], samples: Sequence[Sample], folder: Path, server: str | None
) -> None:
    """Print the lines of one judge."""
    name = Path(model).name
    wanted = raw(load_judge(model, precision="float32"))
    original, speed = judged(wanted, samples)
    runtime = "transformers" if hasattr(wanted, "backend") else "torch"
    print(f"| {name} | {runtime} | float32 | | | | | | {speed:.2f} |", flush=True)
    encoder = read_identity(model).get("stage") == ENCODER
    to, runtime = ("onnx", "ONNX Runtime") if encoder else ("gguf", "llama.cpp")
    for kind in TYPES[to]:
        if kind not in kinds:
            continue
        out = folder / f"{name}-{kind}"
        if not out.exists():
            export_judge(model, to, out, kind=kind)
        verdicts, speed = judged(raw(load_judge(str(out))), samples)
        size = read_identity(str(out))[EXPORT]["bytes"] / 1e6
        show(name, runtime, kind, size, original, verdicts, speed)
    if server is not None:
        asked = load_judge("judge", backend="openai", base_url=server)
        verdicts, speed = judged(asked, samples)
        show(name, "llama.cpp server", "Q8_0", None, original, verdicts, speed)


def show(
    name: str,
    runtime: str,
    kind: str,
    size: float | None,
    original: Sequence[Verdict],
    verdicts: Sequence[Verdict],
    speed: float,
) -> None:
    """Print one line."""
    found = parity(original, verdicts, kind)
    print(
        f"| {name} | {runtime} | {kind} | {'' if size is None else f'{size:.0f}'} "
        f"| {found.changed} of {found.samples} | {found.mean:.5f} | {found.largest:.5f} "
        f"| {'yes' if found.passed else 'no'} | {speed:.2f} |",
        flush=True,
    )


def main() -> None:
    """Export, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--max-chars", type=int, default=1500, help="of document and answer together")
    parser.add_argument("--types", default="F16,Q8_0,float32")
    parser.add_argument("--out", type=Path, help="keep the exports here; those that are there are used")
    parser.add_argument(
        "--server", help="a server of llama.cpp with the judge in Q8_0: http://localhost:8080/v1"
    )
    options = parser.parse_args()
    short = [
        row for row in load(options.data_dir) if len(row.document_text + row.answer) <= options.max_chars
    ]
    samples = take(short, options.limit)
    print(f"{len(samples)} of the {len(short)} answers with at most {options.max_chars} characters\n{HEAD}")
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in options.models:
            bench(model, options.types.split(","), samples, options.out or Path(scratch), options.server)


if __name__ == "__main__":
    main()
