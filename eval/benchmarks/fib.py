"""FIB (arXiv 2211.08412): consistent and inconsistent summaries of news; see :mod:`judge.formats.fib`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eval.benchmarks.base import Benchmark
from eval.benchmarks.pairs import pair_figures
from judge.formats import fib
from judge.formats.files import need_folder
from judge.types import Sample


def read(data_dir: Path | None) -> Iterator[Sample]:
    """Two samples a pair of ``data_dir/fib``."""
    return fib.read(need_folder(data_dir, "FIB", "fib", fib.ORIGINAL))


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By corpus, and by the model that wrote the inconsistent summary of the pair."""
    return {"source": (sample.source,), "model": (str(sample.meta["model"]),)}


FIB = Benchmark(
    name="fib",
    title="FIB (arXiv 2211.08412)",
    read=read,
    rows=rows,
    figures=pair_figures,
    size=7_158,
    notes=(
        "The paper compares the likelihoods that a model gives to the summaries of a pair; the pair accuracy "
        "compares what a judge says of each.",
    ),
)
