"""Rule perturbations: wrong twins of faithful answers, made without a model."""

from data_pipeline.perturb.edits import EDIT_TYPES, EDITS, Edit, occurs
from data_pipeline.perturb.facts import Fact, find_dates, find_entities, find_facts, find_numbers
from data_pipeline.perturb.rules import Perturbation, RulePerturber

__all__ = [
    "EDITS",
    "EDIT_TYPES",
    "Edit",
    "Fact",
    "Perturbation",
    "RulePerturber",
    "find_dates",
    "find_entities",
    "find_facts",
    "find_numbers",
    "occurs",
]
