"""Pairs of samples, one faithful and one hallucinated, made from gold answers by kinds of contrast."""

from data_pipeline.pairs.contrast import KINDS, Contrast, Error, Maker
from data_pipeline.pairs.make import GoldPairs, PairYield, Perturb, make_pairs, new_pairs
from data_pipeline.pairs.makers import make_makers

__all__ = [
    "KINDS",
    "Contrast",
    "Error",
    "GoldPairs",
    "Maker",
    "PairYield",
    "Perturb",
    "make_makers",
    "make_pairs",
    "new_pairs",
]  # fmt: skip
