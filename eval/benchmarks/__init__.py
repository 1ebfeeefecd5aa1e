"""The benchmarks: each module reads one, in the format in which its authors released it.

:mod:`eval.benchmarks.base` defines what a benchmark is.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from judge.errors import InputError, unknown
from judge.types import Sample

if TYPE_CHECKING:
    from eval.benchmarks.base import Benchmark

MODULES = {
    "halubench": ("halubench", "halubench_held_out"),
    "halueval": (
        "halueval", "halueval_qa", "halueval_dialogue", "halueval_summarization", "halueval_general",
    ),
    "ragtruth": ("ragtruth",),
    "bianbench": ("bianbench_en", "bianbench_zh", "bianbench_cf"),
    "fib": ("fib", "fib_held_out"),
    "conflictqa": ("conflictqa",),
    "diahalu": ("diahalu", "diahalu_v2", "diahalu_one_shot", "diahalu_evidence"),
    "onioneval": (
        "onioneval", "onioneval_few_shot", "onioneval_evidence", "onioneval_few_shot_evidence",
        "onioneval_retrieval", "onioneval_few_shot_retrieval",
    ),
    "injection": ("injection",),
    "probes": ("probes",),
}  # fmt: skip
BENCHMARKS = {name: module for module, names in MODULES.items() for name in names}
"""Benchmark name to the module of this package that defines it, as a constant of that name in capitals."""

WHOLE = (
    "halubench_held_out", "halueval", "halueval_general", "ragtruth", "bianbench_en", "bianbench_zh",
    "bianbench_cf", "fib_held_out", "conflictqa", "diahalu", "onioneval",
)  # fmt: skip
"""What ``all`` stands for: every benchmark whose files are found, without parts and variants of another. For
sets that recipes also train on, it takes the held-out part, so that ``all`` suits every judge. The bundled
``probes`` are left out: since their data is always there, they would hide a wrong data folder."""


def check_name(name: str) -> None:
    """Raise :class:`InputError` unless ``name`` is a benchmark."""
    if name not in BENCHMARKS:
        raise InputError(unknown("benchmark", name, BENCHMARKS))


def get_benchmark(name: str) -> "Benchmark":
    """The benchmark with a name from :data:`BENCHMARKS`; raises ``InputError`` for any other name."""
    check_name(name)
    benchmark: Benchmark = getattr(import_module(f"{__name__}.{BENCHMARKS[name]}"), name.upper())
    return benchmark


def load_benchmark(name: str, data_dir: Path | None = None) -> list[Sample]:
    """All labelled samples of a benchmark, see :meth:`eval.benchmarks.base.Benchmark.load`."""
    return get_benchmark(name).load(data_dir)
