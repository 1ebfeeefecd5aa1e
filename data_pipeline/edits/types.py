"""The edit types: each makes one small wrong change to an answer, or says that it cannot (``None``)."""

from random import Random

from data_pipeline.edits.attributions import attribution
from data_pipeline.edits.comparatives import comparative
from data_pipeline.edits.comparatives_zh import chinese_comparative
from data_pipeline.edits.edit import Edit, EditFunction
from data_pipeline.edits.polarity import negation
from data_pipeline.edits.polarity_zh import chinese_negation
from data_pipeline.edits.roles import role
from data_pipeline.edits.swap_date import date, foreign_date
from data_pipeline.edits.swap_date_zh import chinese_date, foreign_chinese_date
from data_pipeline.edits.swap_name import entity
from data_pipeline.edits.swap_name_zh import chinese_entity
from data_pipeline.edits.swap_number import foreign_number, number
from data_pipeline.edits.swap_number_zh import chinese_number, foreign_chinese_number
from judge.types import Language

_CHINESE: dict[str, EditFunction] = {
    "number": chinese_number,
    "date": chinese_date,
    "entity": chinese_entity,
    "negation": chinese_negation,
    "comparative": chinese_comparative,
}
"""The other types make nothing of Chinese answers."""


def _by_language(english: EditFunction, chinese: EditFunction | None) -> EditFunction:
    """One edit function of two: the Chinese one for Chinese answers, where there is one."""

    def edit(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
        function = chinese if language == "zh" else english
        return function(answer, document, question, language, rng) if function else None

    return edit


_ENGLISH: dict[str, EditFunction] = {
    "number": number,
    "date": date,
    "entity": entity,
    "negation": negation,
    "comparative": comparative,
    "role": role,
    "attribution": attribution,
}
EDITS: dict[str, EditFunction] = {
    name: _by_language(edit, _CHINESE.get(name)) for name, edit in _ENGLISH.items()
}
FOREIGN_EDITS: dict[str, EditFunction] = {
    "number": _by_language(foreign_number, foreign_chinese_number),
    "date": _by_language(foreign_date, foreign_chinese_date),
}
"""For the types that take from the document where they can: the same edit with what is not in it."""
EDIT_TYPES: tuple[str, ...] = tuple(EDITS)
"""All that there are; a recipe uses them unless it names some."""
