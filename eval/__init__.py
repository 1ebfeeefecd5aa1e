"""Benchmarks, metrics, baselines and reports: how good a judge really is."""
