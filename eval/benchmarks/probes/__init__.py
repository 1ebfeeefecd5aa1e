"""Probes: contrast pairs that word overlap cannot tell apart, written for this toolkit and bundled with it.

data/*.jsonl  documents with their pairs
benchmark.py  reads them, and measures a judge on them
drawing.py    draws some of the pairs
dressings.py  ways of writing the same answer that should not change the verdict
"""

from eval.benchmarks.probes.benchmark import PROBES

__all__ = ["PROBES"]
