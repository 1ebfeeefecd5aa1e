"""What the number format of merged weights changes: a judge merged in each, beside its adapter on its base.

    python -m tests.bench.merge_formats runs/my-judge --data-dir DIR

Adapter and merged weights judge the same short answers of RAGTruth's test split, in one run. The adapter on
its base in float32 is what the others are held against. Prints a Markdown table: file size, how far rounding
moved the weights as a share of the adapter's change, labels changed, mean and largest difference of p_fail.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

from eval.sampling import take
from judge.errors import JudgeWarning
from judge.exports.parity import parity
from judge.formats.ragtruth import load
from judge.load import load_judge
from judge.models.weights import Precision
from judge.training.merge import merge
from judge.types import Sample, Verdict
from tests.bench.exports import raw


def judged(model: str, precision: Precision, samples: list[Sample]) -> list[Verdict]:
    """Verdicts without a calibration."""
    return raw(load_judge(model, precision=precision)).check(samples)


def main() -> None:
    """Merge, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("adapter")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--max-chars", type=int, default=1300, help="of document and answer together")
    parser.add_argument("--compute", default="float32", help="number formats to judge in: float32,bfloat16")
    parser.add_argument("--dtypes", default="float32,bfloat16,float16", help="number formats to write")
    options = parser.parse_args()
    warnings.simplefilter("ignore", JudgeWarning)
    short = [
        row for row in load(options.data_dir) if len(row.document_text + row.answer) <= options.max_chars
    ]
    samples = take(short, options.limit)
    exact = judged(options.adapter, "float32", samples)
    print(f"{len(samples)} of the {len(short)} answers with at most {options.max_chars} characters\n")
    print("| weights | MB | rounding, % | judged in | labels changed | mean difference | largest |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for precision in options.compute.split(","):
            for dtype in ("adapter", *options.dtypes.split(",")):
                if (dtype, precision) == ("adapter", "float32"):
                    continue  # what the others are held against
                start = f"| {dtype} | | |"
                model = options.adapter
                if dtype != "adapter":
                    model = str(Path(scratch) / f"{dtype}-{precision}")
                    made = merge(options.adapter, Path(model), dtype)
                    start = f"| {dtype} ({made.dtype}) | {made.size / 1e6:.0f} | {100 * made.rounding:.1f} |"
                found = parity(exact, judged(model, precision, samples), "float32")
                print(
                    f"{start} {precision} | {found.changed} of {found.samples} | {found.mean:.5f} "
                    f"| {found.largest:.5f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
