"""The edit types: each makes one small wrong change to an answer, or says that it cannot (``None``)."""

from random import Random

from data_pipeline.edits.attributions import attribution
from data_pipeline.edits.comparatives import comparative
from data_pipeline.edits.edit import Edit, EditFunction
from data_pipeline.edits.polarity import negation
from data_pipeline.edits.roles import role
from data_pipeline.edits.swap_date import date, foreign_date
from data_pipeline.edits.swap_name import entity
from data_pipeline.edits.swap_number import foreign_number, number
from data_pipeline.edits.types_zh import CHINESE_EDITS, FOREIGN_CHINESE_EDITS
from judge.types import Language


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
    name: _by_language(edit, CHINESE_EDITS.get(name)) for name, edit in _ENGLISH.items()
}
FOREIGN_EDITS: dict[str, EditFunction] = {
    "number": _by_language(foreign_number, FOREIGN_CHINESE_EDITS["number"]),
    "date": _by_language(foreign_date, FOREIGN_CHINESE_EDITS["date"]),
}
"""For the types that take from the document where they can: the same edit with what is not in it."""
EDIT_TYPES: tuple[str, ...] = tuple(EDITS)
"""All that there are; a recipe uses them unless it names some."""
