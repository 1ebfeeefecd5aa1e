"""FIB (arXiv 2211.08412): consistent and inconsistent summaries of news; see :mod:`judge.formats.fib`.

``fib`` is the release; ``fib_held_out`` the articles that no recipe trains on (:mod:`judge.formats.shared`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eval.benchmarks.base import Benchmark
from eval.benchmarks.pairs import pair_figures
from judge.formats import fib
from judge.formats.files import need_folder
from judge.formats.shared import on_side
from judge.types import Sample


def read(data_dir: Path | None) -> Iterator[Sample]:
    """Two samples per pair of ``data_dir/fib``."""
    return fib.read(need_folder(data_dir, "FIB", "fib", fib.ORIGINAL))


def read_held_out(data_dir: Path | None) -> Iterator[Sample]:
    """The samples about articles that no recipe trains on."""
    return (sample for sample in read(data_dir) if on_side("fib", sample.document_text, "benchmark"))


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By corpus, and by the model that wrote the inconsistent summary of the pair."""
    return {"source": (sample.source,), "model": (str(sample.meta["model"]),)}


FIB = Benchmark(
    name="fib",
    title="FIB (arXiv 2211.08412)",
    read=read,
    rows=rows,
    figures=pair_figures,
    notes=(
        "Recipes train on half of its articles: measure what they make on fib_held_out.",
        "The paper compares the likelihoods that a model gives to the summaries of a pair; the pair accuracy "
        "compares what a judge says of each.",
    ),
)

FIB_HELD_OUT = replace(
    FIB,
    name="fib_held_out",
    title="FIB (arXiv 2211.08412), the articles that recipes do not train on",
    read=read_held_out,
    of="fib",
    notes=(
        "Half of the articles, drawn by a seed; the other half is a source of training data.",
        FIB.notes[-1],
    ),
)
