"""The edit types: each makes one small wrong change to an answer, or says that it cannot (``None``)."""

from collections.abc import Mapping
from functools import partial
from random import Random

from data_pipeline.edits.comparatives import comparative
from data_pipeline.edits.edit import Edit, EditFunction, OwnEdit
from data_pipeline.edits.polarity import negation
from data_pipeline.edits.swap_date import DATE
from data_pipeline.edits.swap_date_zh import CHINESE_DATE
from data_pipeline.edits.swap_name import entity
from data_pipeline.edits.swap_name_zh import chinese_entity
from data_pipeline.edits.swap_number import NUMBER
from data_pipeline.edits.swap_number_zh import CHINESE_NUMBER
from judge.types import Language


def _either(english: OwnEdit, chinese: OwnEdit | None = None) -> EditFunction:
    """Combine two edit functions into one; without a Chinese one, Chinese answers get no edit."""

    def edit(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
        function = chinese if language == "zh" else english
        return function(answer, document, question, rng) if function else None

    return edit


EDITS: Mapping[str, EditFunction] = {
    "number": _either(NUMBER.edit, CHINESE_NUMBER.edit),
    "date": _either(DATE.edit, CHINESE_DATE.edit),
    "entity": _either(entity, chinese_entity),
    "negation": _either(negation),
    "comparative": _either(comparative),
}
FOREIGN_EDITS: Mapping[str, EditFunction] = {
    "number": _either(partial(NUMBER.edit, foreign=True), partial(CHINESE_NUMBER.edit, foreign=True)),
    "date": _either(partial(DATE.edit, foreign=True), partial(CHINESE_DATE.edit, foreign=True)),
}
"""For types that prefer text from the document: the same edit with text that is not in it."""
EDIT_TYPES: tuple[str, ...] = tuple(EDITS)
"""All edit types; a recipe uses them unless it names some."""
