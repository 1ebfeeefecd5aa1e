"""The edit type ``phrase``: a noun with other describing words, as the document has it elsewhere."""

import re
from random import Random

from data_pipeline.perturb.edit import Edit, Option, first_clean, fits, occurs
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.phrases_en import noun_phrases
from data_pipeline.perturb.rivals import may_also_hold
from judge.types import Language


def phrase(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another noun phrase of the document with the same last word ("nuclear DNA" for "plastid DNA")."""
    if language == "zh" or is_translation(answer, document):
        return None
    options: list[Option] = []
    others = noun_phrases(document)
    for fact in noun_phrases(answer):
        for text in sorted({other.text for other in others if other.unit == fact.unit}):
            if _differs(fact.text, text) and fits(fact.text, text, answer, question, document):
                mine, new = fact.text.split(), text.split()
                if any(occurs(word, question) or occurs(word, answer) for word in new[:-1]):
                    continue
                if not may_also_hold(fact, text, answer, question, document):
                    rank = 2.0 * occurs(fact.text, question) + (len(mine) != len(new))
                    options.append((rank, fact, text))
    return first_clean("phrase", answer, document, language, rng, options)


def _differs(one: str, two: str) -> bool:
    """Do two phrases describe their noun by different words, not by forms of the same?"""
    first, second = re.split(r"[ -]", one)[:-1], re.split(r"[ -]", two)[:-1]
    return not any(a[:4] == b[:4] for a in first for b in second)
