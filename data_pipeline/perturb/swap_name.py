"""The edit type ``entity``: another name of the same kind, always one of the document."""

import re
from random import Random

from data_pipeline.perturb.edit import Edit, Swap, at_start, listed_together, make_edit, occurs
from data_pipeline.perturb.facts import document_facts, is_translation
from data_pipeline.perturb.names_en import GENERIC
from judge.types import Language

_PRONOUN = re.compile(r"\b(?:he|she|his|her|him|hers|himself|herself)\b", re.I)


def entity(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Another name of the same kind from the same document, put in for every mention of one in the answer."""
    if is_translation(answer, document):
        return None
    names = document_facts("entity", answer, document, language)
    kinds = {name.text: name for name in names}
    options: list[tuple[float, str, str]] = []
    for old, fact in kinds.items():
        spots = _mentions(old, answer)
        if not spots or (fact.form == "acronym" and (len(old) < 3 or f"({old}" in answer)):
            continue
        for new, other in kinds.items():
            if other.form != fact.form or len(new) < 2 or _related(old, new) or _known(new, answer):
                continue
            if _known(new, question) or listed_together(old, new, document):
                continue
            if language == "en" and (
                _article(answer, spots[0]) != _article(document, other.start)
                or (fact.form == "other" and len(old.split()) != len(new.split()))
            ):
                continue
            gendered = language == "en" and fact.form.startswith("person") and _PRONOUN.search(answer)
            rank = (1.0 if occurs(old, question) else 0.0) + bool(gendered)
            rank += 0.7 * (fact.form.startswith("person") and other.unit != fact.unit)
            rank += 0.5 * (language == "en" and len(old.split()) != len(new.split()))
            options.append((rank, old, new))
    options.sort()
    rng.shuffle(options)
    for _, old, new in sorted(options, key=lambda item: item[0]):
        swaps: list[Swap] = [(spot, spot + len(old), new) for spot in _mentions(old, answer)]
        edit = make_edit("entity", answer, document, language, swaps)
        if edit and not (language == "en" and any(occurs(part, edit.answer) for part in _parts(old))):
            return edit
    return None


def _mentions(name: str, text: str) -> list[int]:
    """Where the name stands in the text, and is not part of a longer name."""
    pattern = rf"(?<![\w-])(?<![A-Z]\w\w )(?<![A-Za-z]\. ){re.escape(name)}(?!\w|-\w| [A-Z]|\.\w)"
    return [
        m.start()
        for m in re.finditer(pattern, text)
        if not re.search(r"[A-Z]\w+ (?:of )?$", text[: m.start()])
        or at_start(re.sub(r"\w+ (?:of )?$", "", text[: m.start()]))
    ]


def _known(name: str, text: str) -> bool:
    """Does the text name this already, be it by a part of the name?"""
    return any(occurs(part, text) for part in _parts(name))


def _related(one: str, two: str) -> bool:
    """May the two be names of one thing?"""
    return bool(_parts(one) & _parts(two)) or not _parts(one) or not _parts(two)


def _parts(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{2,}", name)} - GENERIC


def _article(text: str, start: int) -> bool:
    return text[max(0, start - 4) : start].lower() == "the "
