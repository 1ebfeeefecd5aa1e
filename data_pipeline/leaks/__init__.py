"""The leak gate: training data that occurs in a benchmark is found, dropped and listed.

``gate`` is what a build calls; ``benchmarks`` reads the benchmarks, ``index`` compares samples with them by
``shingles`` (``postings`` holds these).
"""

from data_pipeline.leaks.benchmarks import BENCHMARKS, available
from data_pipeline.leaks.index import BenchmarkIndex, IndexBuilder, Kind, Leak

__all__ = ["BENCHMARKS", "BenchmarkIndex", "IndexBuilder", "Kind", "Leak", "available"]
