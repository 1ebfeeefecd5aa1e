"""The leak gate: training data that occurs in a benchmark is found, dropped and listed."""

from data_pipeline.leaks.benchmarks import BENCHMARKS, available
from data_pipeline.leaks.index import BenchmarkIndex, IndexBuilder, Kind, Leak

__all__ = ["BENCHMARKS", "BenchmarkIndex", "IndexBuilder", "Kind", "Leak", "available"]
