"""Benchmarks, metrics, floors and reports: how good a judge really is."""
