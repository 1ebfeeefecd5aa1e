"""A second passage beside a document, which holds what an answer says and is about something else.

Without it the document that no longer bears an answer is the one where its words are nowhere: to look them
up would be enough. Both twins get the same passage. It comes from another document that holds the words; or
numbers, dates and persons of another one become those of the answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from data_pipeline.contrast import Contrast
from data_pipeline.documents.bearing import SHORT, words_of
from data_pipeline.documents.parts import is_table, parts_of
from data_pipeline.documents.plausible import can_change, is_whole_name
from data_pipeline.documents.swap import replace_words
from data_pipeline.perturb.edit import digits_of, occurs
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import answer_facts, find_facts
from judge.floors.overlap import units
from judge.types import Language, Sample

LONGEST = {"en": 900, "zh": 450}
"""Characters of a passage."""
TRIED = 40
"""Texts that are tried for a passage."""
STRANGE = {True: 0.34, False: 0.15}
"""Share of the question's words that a passage may hold: if the answer is a number, date or name, or not."""


def put_beside(contrast: Contrast, gold: Sample, texts: Sequence[str], rng: Random) -> Contrast | None:
    """The pair with a passage beside both of its documents.

    ``None`` where everything that the hallucinated twin's answer names still stands in its document, or where
    no other text can hold what does not.

    Args:
        contrast: edits of a document.
        gold: the sample that they are about.
        texts: paragraphs of documents of its kind.
        rng: decides which, and where it stands.
    """
    left, kept = contrast.hallucinated_document or "", contrast.faithful_document or ""
    answer = gold.answer if contrast.hallucinated is None else contrast.hallucinated
    question = gold.question if contrast.question is None else contrast.question
    language = gold.language
    named = (
        fact
        for kind in ("date", "number", "entity")
        for fact in answer_facts(kind, answer, left, question, language)
    )
    facts = {fact.text: fact for fact in named if not occurs(fact.text, question)}
    wanted = [fact for text, fact in sorted(facts.items()) if not occurs(text, left)]
    said = contrast.inserted.strip(" .。")
    short = len(units(said, language)) <= SHORT[language]
    if not wanted and short and not occurs(said, left):
        wanted = [Fact("words", said, 0, len(said))]
    if not wanted or is_table(left):
        return None
    asked = words_of(question or answer, language) - words_of(said if question else "", language)
    strange = STRANGE[wanted[0].kind != "words"] * len(asked)
    for text in _candidates(wanted, gold.document_text, texts, rng):
        passage = _passage(wanted, text, language, rng)
        if passage and len(asked & words_of(passage, language)) <= strange:
            first = rng.random() < 0.5
            documents = ["\n\n".join((passage, one) if first else (one, passage)) for one in (kept, left)]
            return replace(contrast, faithful_document=documents[0], hallucinated_document=documents[1])
    return None


def _candidates(wanted: Sequence[Fact], document: str, texts: Sequence[str], rng: Random) -> list[str]:
    """Texts that hold all the words, if there are any; else some texts."""
    found = [text for text in texts if all(fact.text in text for fact in wanted) and text not in document]
    if found:
        return rng.sample(found, min(4, len(found)))
    if any(fact.kind == "words" for fact in wanted):
        return []
    return [text for text in rng.sample(texts, min(TRIED, len(texts))) if text not in document]


def _passage(wanted: Sequence[Fact], text: str, language: Language, rng: Random) -> str:
    """Some sentences of a text that hold all the facts, as they are or in the place of others like them."""
    if is_table(text):
        return ""
    parts = parts_of(text)
    holding = (n for n, part in enumerate(parts) if occurs(wanted[0].text, text[part.start : part.end]))
    passage = _around(next(holding, len(parts) // 2), text, LONGEST[language])
    own = list(_facts_of(passage, language)) if passage else []
    for fact in wanted:
        if occurs(fact.text, passage):
            continue
        places = [other for other in own if _stands_for(fact, other, passage)]
        if not places:
            return ""
        other = rng.choice(places)
        own = [rest for rest in own if rest.text != other.text]
        passage = replace_words(passage, _changes(other.text, fact, passage))
    return passage


@lru_cache(maxsize=2048)
def _facts_of(passage: str, language: Language) -> tuple[Fact, ...]:
    """Kept, since the same passages are tried for many answers."""
    return tuple(find_facts(passage, language))


def _changes(old: str, fact: Fact, passage: str) -> dict[str, str]:
    if not fact.form.startswith("person"):
        return {old: fact.text}
    last = old.split()[-1]
    return {old: fact.text, last: fact.text.split()[-1]}


def _stands_for(fact: Fact, other: Fact, passage: str) -> bool:
    """Could the fact be written where the other one stands?"""
    one, two = fact.text, other.text
    if (fact.kind, fact.form) != (other.kind, other.form) or fact.text == other.text:
        return False
    if fact.form in ("organisation", "place"):
        return " " in one and " " in two
    if fact.kind == "entity":
        return (
            fact.form == "person-long"
            and fact.unit == other.unit == "sure"
            and len(one.split()) == len(two.split()) == 2
            and is_whole_name(two, passage)
        )
    if fact.kind == "number" and len(digits_of(one)) != len(digits_of(two)):
        return False
    return can_change(two, one, passage)


def _around(at: int, text: str, longest: int) -> str:
    """The sentences around one, as many as fit, from one paragraph; nothing where that is but one."""
    parts = parts_of(text)
    first = last = at
    while True:
        wider = [(a, b) for a, b in ((first, last + 1), (first - 1, last)) if a >= 0 and b < len(parts)]
        wider = [(a, b) for a, b in wider if "\n" not in text[parts[a].start : parts[b].end]]
        fitting = [(a, b) for a, b in wider if parts[b].end - parts[a].start <= longest]
        if not fitting:
            break
        first, last = fitting[0]
    found = text[parts[first].start : parts[last].end]
    return found if len(found) <= longest and last > first else ""
