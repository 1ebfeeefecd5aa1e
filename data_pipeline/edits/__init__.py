"""Rule perturbations: wrong twins of faithful answers, made without a model."""

from data_pipeline.edits.edit import occurs
from data_pipeline.edits.perturber import Perturbation, RulePerturber
from data_pipeline.edits.types import EDIT_TYPES, EDITS
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import find_entities, find_facts

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
