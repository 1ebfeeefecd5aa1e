"""The Chinese edits by type."""

from data_pipeline.perturb.attribution_zh import attribution
from data_pipeline.perturb.comparative_zh import chinese_comparative
from data_pipeline.perturb.edit import EditFunction
from data_pipeline.perturb.omission_zh import omission
from data_pipeline.perturb.phrases_zh import cause, certainty, order, quantifier
from data_pipeline.perturb.polarity_zh import chinese_negation
from data_pipeline.perturb.role_zh import role
from data_pipeline.perturb.swap_date_zh import chinese_date, foreign_chinese_date
from data_pipeline.perturb.swap_name_zh import chinese_entity
from data_pipeline.perturb.swap_number_zh import chinese_number, foreign_chinese_number

CHINESE_EDITS: dict[str, EditFunction] = {
    "number": chinese_number,
    "date": chinese_date,
    "entity": chinese_entity,
    "negation": chinese_negation,
    "comparative": chinese_comparative,
    "role": role,
    "attribution": attribution,
    "certainty": certainty,
    "quantifier": quantifier,
    "cause": cause,
    "order": order,
    "omission": omission,
}
"""Edits of Chinese answers; of the other types one function serves both languages."""
FOREIGN_CHINESE_EDITS: dict[str, EditFunction] = {
    "number": foreign_chinese_number,
    "date": foreign_chinese_date,
}
"""For the types that take from the document where they can: the same edit with what is not in it."""
