"""Rule perturbations: wrong twins of faithful answers, made without a model."""

from data_pipeline.perturb.dates import find_dates
from data_pipeline.perturb.edit import Edit, occurs
from data_pipeline.perturb.edits import EDIT_TYPES, EDITS
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import find_entities, find_facts
from data_pipeline.perturb.numbers import find_numbers
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
