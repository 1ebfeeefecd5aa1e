"""Prompts to teachers, in the project's own words, one module per purpose, versioned and hashed.

Text from a sample is data in all of them, fenced by tags that no text can close. Every reply is JSON of a
schema that comes with the prompt. Any change of text needs a new :data:`PROMPTS_VERSION`, which data set
manifests record.
"""

from data_pipeline.teachers.prompts import counterfactual, known_label, perturbation
from data_pipeline.teachers.prompts.base import Prompted, identity
from data_pipeline.teachers.prompts.counterfactual import evidence_prompt, expansion_prompt
from data_pipeline.teachers.prompts.judgement import judgement_prompt
from data_pipeline.teachers.prompts.known_label import known_label_prompt
from data_pipeline.teachers.prompts.perturbation import perturbation_prompt

PROMPTS_VERSION = "4"

__all__ = [
    "PROMPTS_VERSION", "Prompted", "describe", "evidence_prompt", "expansion_prompt",
    "judgement_prompt", "known_label_prompt", "perturbation_prompt",
]  # fmt: skip


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
