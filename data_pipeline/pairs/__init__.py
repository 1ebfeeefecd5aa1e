"""Contrast pairs: one faithful and one hallucinated sample, made from a gold answer.

``make`` makes them with the ``makers`` of all kinds: ``added``, ``long``, ``refusal``,
``foreign`` and ``documents``; edits come from :mod:`data_pipeline.edits` or a chat model. ``contrast`` says
what a maker returns.
"""

from data_pipeline.pairs.contrast import Contrast, Error, Maker
from data_pipeline.pairs.make import GoldPairs, PairYield, Perturb, make_pairs, new_pairs
from data_pipeline.pairs.makers import make_makers
from data_pipeline.sources.kinds import KINDS

__all__ = [
    "KINDS", "Contrast", "Error", "GoldPairs", "Maker", "PairYield", "Perturb", "make_makers", "make_pairs",
    "new_pairs",
]  # fmt: skip
