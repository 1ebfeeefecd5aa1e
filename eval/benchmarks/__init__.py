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

BENCHMARKS = {
    "halubench": "halubench:HALUBENCH",
    "halubench_held_out": "halubench:HALUBENCH_HELD_OUT",
    "halueval": "halueval:HALUEVAL",
    "halueval_qa": "halueval:HALUEVAL_QA",
    "halueval_dialogue": "halueval:HALUEVAL_DIALOGUE",
    "halueval_summarization": "halueval:HALUEVAL_SUMMARIZATION",
    "halueval_general": "halueval:HALUEVAL_GENERAL",
    "ragtruth": "ragtruth:RAGTRUTH",
    "bianbench_en": "bianbench:BIANBENCH_EN",
    "bianbench_zh": "bianbench:BIANBENCH_ZH",
    "bianbench_cf": "bianbench:BIANBENCH_CF",
    "fib": "fib:FIB",
    "fib_held_out": "fib:FIB_HELD_OUT",
    "conflictqa": "conflictqa:CONFLICTQA",
    "diahalu": "diahalu:DIAHALU",
    "diahalu_v2": "diahalu:DIAHALU_V2",
    "diahalu_one_shot": "diahalu:DIAHALU_ONE_SHOT",
    "diahalu_evidence": "diahalu:DIAHALU_EVIDENCE",
    "onioneval": "onioneval:ONIONEVAL",
    "onioneval_few_shot": "onioneval:ONIONEVAL_FEW_SHOT",
    "onioneval_evidence": "onioneval:ONIONEVAL_EVIDENCE",
    "onioneval_few_shot_evidence": "onioneval:ONIONEVAL_FEW_SHOT_EVIDENCE",
    "onioneval_retrieval": "onioneval:ONIONEVAL_RETRIEVAL",
    "onioneval_few_shot_retrieval": "onioneval:ONIONEVAL_FEW_SHOT_RETRIEVAL",
    "injection": "injection:INJECTION",
    "probes": "probes:PROBES",
}
"""Benchmark name to its definition, as ``module:constant`` in this package."""

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
    module, constant = BENCHMARKS[name].split(":")
    benchmark: Benchmark = getattr(import_module(f"{__name__}.{module}"), constant)
    return benchmark


def load_benchmark(name: str, data_dir: Path | None = None) -> list[Sample]:
    """All labelled samples of a benchmark, see :meth:`eval.benchmarks.base.Benchmark.load`."""
    return get_benchmark(name).load(data_dir)
