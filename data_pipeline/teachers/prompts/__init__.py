"""Prompts to teachers, in the project's own words, one module per purpose, versioned and hashed.

Text from a sample is data in all of them, fenced by tags that no text can close. Every reply is JSON of a
schema that comes with the prompt. Any change of text needs a new :data:`PROMPTS_VERSION`, which data set
manifests record.
"""

from data_pipeline.teachers.prompts import counterfactual, known_label, perturbation
from data_pipeline.teachers.prompts.base import identity

PROMPTS_VERSION = "4"


def describe() -> dict[str, str]:
    """Version and hash of all texts and schemas here. The judging prompt is the judge's and has its own."""
    texts = [
        [perturbation.TASKS, perturbation.RULES, perturbation.MORE, perturbation.REPLY, perturbation.SCHEMA],
        [known_label.RULES, known_label.CHANGE, known_label.GOLD, known_label.STYLE, known_label.REPLY],
        [known_label.SCHEMA],
        [counterfactual.EVIDENCE, counterfactual.EVIDENCE_SCHEMA],
        [counterfactual.EXPANSION, counterfactual.DOCUMENT_SCHEMA],
    ]
    return identity("teacher_prompts", PROMPTS_VERSION, texts)
