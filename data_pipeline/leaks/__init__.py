"""The leak gate: finds, drops and lists training data that occurs in a benchmark.

A build calls ``gate``; ``benchmarks`` reads the benchmarks, ``index`` compares samples with them by
``shingles``, which ``postings`` stores.
"""
