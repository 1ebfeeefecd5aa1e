"""The benchmarks: each file here reads one, in the form in which its authors released it."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from judge.errors import InputError, unknown
from judge.types import Sample

BENCHMARKS = {
    "halubench": "eval.benchmarks.halubench:load",
    "halueval": "eval.benchmarks.halueval:load",
    "halueval_qa": "eval.benchmarks.halueval:load_qa",
    "halueval_dialogue": "eval.benchmarks.halueval:load_dialogue",
    "halueval_summarization": "eval.benchmarks.halueval:load_summarization",
    "ragtruth": "judge.formats.ragtruth:load",
}
"""Name of a benchmark to the function that loads it, as ``module:function``."""

WHOLE = ("halubench", "halueval", "ragtruth")
"""What ``all`` stands for: every benchmark, and no part of one a second time."""


def check_name(name: str) -> None:
    """Raise :class:`InputError` unless ``name`` is a benchmark."""
    if name not in BENCHMARKS:
        raise InputError(unknown("benchmark", name, BENCHMARKS))


def load_benchmark(name: str, data_dir: Path | None = None) -> list[Sample]:
    """All labelled samples of a benchmark, in the order of its files.

    Args:
        name: a key of :data:`BENCHMARKS`.
        data_dir: holds one folder per benchmark with its original files, plain or ``.gz``. Default: the
            environment variable ``JUDGE_DATA_DIR``; without that, the files come from the Hub.

    Raises:
        InputError: unknown name, missing files, or a row that is wrong (with file and line).
    """
    check_name(name)
    module, function = BENCHMARKS[name].split(":")
    load: Callable[[Path | None], list[Sample]] = getattr(import_module(module), function)
    return load(data_dir)
