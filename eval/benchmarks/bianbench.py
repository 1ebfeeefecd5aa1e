"""Bi'anBench (Bi'an, appendix A): documents, questions and answers in English and Chinese, four tasks.

The set itself was never released; files in its form are read by :mod:`judge.formats.bianbench`.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from eval.benchmarks.base import Benchmark
from judge.formats.bianbench import Subset, read
from judge.types import Sample


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By source, by task and by language, as in the paper's Tables 2, 3, 17 and 18."""
    return {"source": (sample.source,), "task": (sample.task.value,), "language": (sample.language,)}


def _subset(subset: Subset) -> Benchmark:
    return Benchmark(
        name=f"bianbench_{subset}",
        title=f"Bi'anBench {subset.upper()} (Bi'an)",
        read=partial(read, subset),
        rows=rows,
        notes=("The published set was never released: do not compare figures on a rebuilt one.",),
    )


BIANBENCH_EN = _subset("en")
BIANBENCH_ZH = _subset("zh")
BIANBENCH_CF = _subset("cf")
