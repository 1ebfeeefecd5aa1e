"""The leak gate: finds, drops and lists training data that occurs in a benchmark.

A build calls ``gate``; ``benchmarks`` reads the benchmarks, ``index`` compares samples with them by
``shingles``, which ``postings`` stores.
"""

from data_pipeline.leaks.benchmarks import BENCHMARKS, available
from data_pipeline.leaks.index import BenchmarkIndex, IndexBuilder, Kind, Leak

__all__ = ["BENCHMARKS", "BenchmarkIndex", "IndexBuilder", "Kind", "Leak", "available"]
