"""Reasonings by rule, for known labels: a line a claim, with the place of the document that decides about it.

They cite the document and never the label's origin. What cannot be decided by quoting has no reasoning.
"""

from data_pipeline.teachers.reasoning.claims import findings
from data_pipeline.teachers.reasoning.mistakes import Mistakes
from data_pipeline.teachers.reasoning.wording import reasoning
from judge.types import Sample

__all__ = ["Mistakes", "explain"]


def explain(sample: Sample) -> str | None:
    """A reasoning that leads to the sample's gold label, or ``None`` where it cannot be had by quoting."""
    found = findings(sample)
    return reasoning(sample, found) if found else None
