"""Baselines: trivial rules that judge without understanding (``rules``), and word overlap (``overlap``)."""

from judge.baselines.overlap import overlap
from judge.baselines.rules import TRIVIAL_BASELINES, TrivialBaseline

__all__ = ["TRIVIAL_BASELINES", "TrivialBaseline", "overlap"]
