"""Reasonings by rule for known labels: one line per claim, with a quote from the document that decides it.

They cite the document and never where the label comes from. What no quote can decide gets no reasoning.
"""

from data_pipeline.teachers.reasoning.claims import findings
from data_pipeline.teachers.reasoning.mistakes import Mistakes
from data_pipeline.teachers.reasoning.wording import reasoning
from judge.types import Sample

__all__ = ["Mistakes", "explain"]


def explain(sample: Sample) -> str | None:
    """A reasoning that leads to the sample's gold label, or ``None`` if no quotes can decide it."""
    found = findings(sample)
    return reasoning(sample, found) if found else None
