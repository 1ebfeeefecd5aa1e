"""Rule-based edits that make a faithful answer wrong by changing one fact, without a model.

``types`` lists the edits, one module each (``swap_date``, ``swap_name``, ``swap_number``, ``polarity``,
``comparatives``; ``_zh`` for Chinese). ``perturber`` chooses one, ``edit`` holds the shared code, ``verify``
checks the edits of chat models.
"""

from data_pipeline.edits.edit import Edit, occurs
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.types import EDIT_TYPES, EDITS
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import find_entities, find_facts

__all__ = ["EDITS", "EDIT_TYPES", "Edit", "Fact", "RulePerturber", "find_entities", "find_facts", "occurs"]
