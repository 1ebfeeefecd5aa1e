"""The edit types: each makes one small wrong change to an answer, or says that it cannot (``None``)."""

from data_pipeline.perturb.additions import addition
from data_pipeline.perturb.comparatives import comparative
from data_pipeline.perturb.edit import EditFunction
from data_pipeline.perturb.polarity import negation
from data_pipeline.perturb.swap_date import date, foreign_date
from data_pipeline.perturb.swap_name import entity
from data_pipeline.perturb.swap_number import foreign_number, number

EDITS: dict[str, EditFunction] = {
    "number": number,
    "date": date,
    "entity": entity,
    "negation": negation,
    "comparative": comparative,
    "addition": addition,
}
FOREIGN_EDITS: dict[str, EditFunction] = {"number": foreign_number, "date": foreign_date}
"""For the types that take from the document where they can: the same edit with what is not in it."""
EDIT_TYPES: tuple[str, ...] = tuple(EDITS)
DEFAULT_EDIT_TYPES: tuple[str, ...] = tuple(name for name in EDITS if name != "addition")
"""What is made unless told otherwise: stock phrases tell themselves without the document."""
