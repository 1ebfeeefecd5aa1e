"""Rule perturbations: wrong twins of faithful answers, made without a model."""

from data_pipeline.perturb.edit import occurs
from data_pipeline.perturb.edits import EDIT_TYPES, EDITS
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import find_entities, find_facts
from data_pipeline.perturb.rules import Perturbation, RulePerturber

__all__ = [
    "EDITS",
    "EDIT_TYPES",
    "Fact",
    "Perturbation",
    "RulePerturber",
    "find_entities",
    "find_facts",
    "occurs",
]
