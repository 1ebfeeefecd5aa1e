"""Making an OnionEval (arXiv 2501.12975): the prompts of each stage to the writer and the checker.

Replies are plain text, so that small models can give them too: one text, or one item per line; yes or no from
the checker. Names of entities and categories stand in the sentences themselves, without characters that could
open a field.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from data_pipeline.teachers.prompts.base import Prompted, identity, prompted
from judge.prompting.prompts import guard

VERSION = "1"

Stage = Literal["entity", "description", "fact", "hallucination", "context"]

RULES: Mapping[Stage, str] = {
    "entity": (
        'Name {count} well-known examples of the category "{category}", each by the name under which most '
        "people know it."
    ),
    "description": (
        'Describe "{entity}" (category: {category}) as an encyclopedia begins its entry: its name, what it '
        "is, then particulars that can be looked up, such as origin, place, time, number, material, parts, "
        "maker, use. Write only what is certain."
    ),
    "fact": (
        'List the atomic facts about "{entity}" (category: {category}) that stand in the DOCUMENT: short, '
        'complete sentences, each of which states one thing, begins with "{entity}" and can be understood '
        "alone. Add nothing that does not stand there."
    ),
    "hallucination": (
        'The ANSWER is a true sentence about "{entity}" (category: {category}), from the DOCUMENT. Make it '
        "false: give one attribute another value, be it what the thing is, a part, material, size, number, "
        "time, place, origin, maker, member or purpose. The new value is of the same kind as the old one; "
        "who does not know better would believe it; and it is never true, not even sometimes. Every other "
        "word stays, the name too."
    ),
    "context": (
        'The ANSWER is a true sentence about "{entity}" (category: {category}). Write another true sentence '
        "of background, from the DOCUMENT or from what you know, by which a reader can tell that the ANSWER "
        'is right. It names "{entity}", and does not repeat the ANSWER.'
    ),
}
OTHERS = "Leave these out: {names}."
REPLIES: Mapping[Stage, str] = {
    "entity": "Write the names alone, one a line.",
    "description": "Write at most {words} words on one line.",
    "fact": "Write at most {count} sentences, one a line, and nothing else.",
    "hallucination": "Write the false sentence alone.",
    "context": "Write the sentence alone.",
}
CHECKS: Mapping[Stage, tuple[str, bool]] = {
    "description": (
        'Is the DOCUMENT about "{entity}" in the sense of the category "{category}", and not about '
        "something else of this name?",
        True,
    ),
    "fact": ('Does the DOCUMENT say of "{entity}" what the ANSWER says?', True),
    "hallucination": (
        'The DOCUMENT is about "{entity}" (category: {category}). Could the ANSWER be true of it, by the '
        "DOCUMENT or by anything that you know?",
        False,
    ),
    "context": (
        'By the DOCUMENT, which is about "{entity}" (category: {category}): is the ANSWER right and the '
        "OTHER_ANSWER wrong?",
        True,
    ),
}
"""A question to the checker, and whether an item passes on yes. Since one question needs a no, a checker that
always says the same passes no row."""
YES_OR_NO = "Reply with one word, yes or no."


def entity_prompt(category: str, known: Sequence[str], count: int) -> Prompted:
    """Ask for entities of a category other than the known ones."""
    rules = RULES["entity"].format(count=count, category=_inline(category))
    if known:
        rules = f"{rules} {OTHERS.format(names='; '.join(map(_inline, known)))}"
    return prompted(rules, {}, REPLIES["entity"], None)


def stage_prompt(
    stage: Stage, category: str, entity: str, fields: Mapping[str, str], count: int = 0, words: int = 0
) -> Prompted:
    """Ask the writer for the items of a stage.

    Args:
        stage: any stage after the first.
        category: the entity's category.
        entity: the entity's name.
        fields: the texts to work from.
        count: the most items wanted, if a stage makes several.
        words: the most words of a description.
    """
    rules = RULES[stage].format(entity=_inline(entity), category=_inline(category))
    return prompted(rules, fields, REPLIES[stage].format(count=count, words=words), None)


def check_prompt(stage: Stage, category: str, entity: str, fields: Mapping[str, str]) -> Prompted:
    """Ask the checker about one item of a stage."""
    question = CHECKS[stage][0].format(entity=_inline(entity), category=_inline(category))
    return prompted(question, fields, YES_OR_NO, None)


def _inline(name: str) -> str:
    """A name for use in a sentence: on one line, unable to open or close a field or a quotation."""
    return " ".join(guard(name).replace("<", "‹").replace(">", "›").replace('"', "'").split())


def describe() -> dict[str, str]:
    """Version and hash of all texts here."""
    return identity("onion_prompts", VERSION, [RULES, OTHERS, REPLIES, CHECKS, YES_OR_NO])
