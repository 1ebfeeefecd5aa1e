"""ConflictQA (arXiv 2305.13300): does a judge follow the document, or its own knowledge?

Every question has two documents: evidence for the answer that language models give from memory, and evidence
for the opposite answer. Each is paired with both answers; see :mod:`judge.formats.conflictqa`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from eval.benchmarks.base import Benchmark, Figures, accuracy
from eval.benchmarks.pairs import pair_figures
from judge.formats import conflictqa
from judge.formats.conflictqa import SIDES
from judge.formats.files import need_folder
from judge.types import Sample, Verdict


def read(data_dir: Path | None) -> Iterator[Sample]:
    """Four samples per row of ``data_dir/conflictqa``; ``source`` says which side the document is on."""
    folder = need_folder(data_dir, "ConflictQA", "conflictqa", conflictqa.ORIGINAL)
    for side in SIDES:
        for sample in conflictqa.read(folder, side):
            yield replace(sample, id=f"{side}-{sample.id}", source=f"conflictqa_{side}")


def figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """Accuracy on documents that agree with memory and on those that contradict it, and the gap."""
    judged = list(zip(samples, verdicts, strict=True))
    by_side = {
        side: accuracy([pair for pair in judged if pair[0].source == f"conflictqa_{side}"]) for side in SIDES
    }
    agrees, contradicts = by_side["memory"], by_side["counter"]
    gap = None if agrees is None or contradicts is None else agrees - contradicts
    row = {"memory": agrees, "counter": contradicts, "gap": gap}
    return {"knowledge conflict": {"accuracy": row}} | pair_figures(samples, verdicts)


CONFLICTQA = Benchmark(
    name="conflictqa",
    title="ConflictQA (arXiv 2305.13300)",
    read=read,
    figures=figures,
    notes=(
        "The paper asks models for answers; here a judge is asked about the two answers, as in Bi'an, "
        "section 4.2, which uses documents against memory alone.",
    ),
)
