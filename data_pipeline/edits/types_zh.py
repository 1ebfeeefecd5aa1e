"""The Chinese edits by type."""

from data_pipeline.edits.comparatives_zh import chinese_comparative
from data_pipeline.edits.edit import EditFunction
from data_pipeline.edits.polarity_zh import chinese_negation
from data_pipeline.edits.swap_date_zh import chinese_date, foreign_chinese_date
from data_pipeline.edits.swap_name_zh import chinese_entity
from data_pipeline.edits.swap_number_zh import chinese_number, foreign_chinese_number

CHINESE_EDITS: dict[str, EditFunction] = {
    "number": chinese_number,
    "date": chinese_date,
    "entity": chinese_entity,
    "negation": chinese_negation,
    "comparative": chinese_comparative,
}
"""Edits of Chinese answers; the other types make none of them."""
FOREIGN_CHINESE_EDITS: dict[str, EditFunction] = {
    "number": foreign_chinese_number,
    "date": foreign_chinese_date,
}
"""For the types that take from the document where they can: the same edit with what is not in it."""
