"""A second passage next to a document, which holds what an answer says and is about something else.

Without it the document that no longer supports an answer is the one where its words are nowhere: to look them
up would be enough. Both samples get the same passage, from another document that holds the words.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from data_pipeline.edits.edit import bare, bare_document, occurs
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.parts import is_table, parts_of
from data_pipeline.pairs.documents.supporting import SHORT
from data_pipeline.text.content import words_of
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import answer_facts
from judge.baselines.overlap import units
from judge.types import Language, Sample

LONGEST = {"en": 900, "zh": 450}
"""Characters of a passage."""
TRIED = 4
"""Texts that are tried for a passage."""
STRANGE = {True: 0.34, False: 0.15}
"""Share of the question's words that a passage may hold: if the answer is a number, date or name, or not."""


def add_distractor(contrast: Contrast, gold: Sample, texts: Sequence[str], rng: Random) -> Contrast | None:
    """The pair with a passage next to both of its documents.

    ``None`` where everything that the hallucinated sample's answer names is still in its document, or where
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
    document = gold.document_text
    found = [text for text in texts if all(fact.text in text for fact in wanted) and text not in document]
    for text in rng.sample(found, min(TRIED, len(found))):
        passage = _passage(wanted, text, language)
        fits = passage and len(asked & words_of(passage, language)) <= strange
        if fits and not _repeats(passage, document):
            first = rng.random() < 0.5
            documents = ["\n\n".join((passage, one) if first else (one, passage)) for one in (kept, left)]
            return replace(contrast, faithful_document=documents[0], hallucinated_document=documents[1])
    return None


def _repeats(passage: str, document: str) -> bool:
    """Does a passage say a sentence of the document? Windows of one article overlap."""
    there = bare_document(document)
    return any(bare(passage[part.start : part.end]) in there for part in parts_of(passage))


def _passage(wanted: Sequence[Fact], text: str, language: Language) -> str:
    """Some sentences of a text that hold all the facts; empty where there are none."""
    if is_table(text):
        return ""
    parts = parts_of(text)
    holding = (n for n, part in enumerate(parts) if occurs(wanted[0].text, text[part.start : part.end]))
    place = next(holding, None)
    passage = _around(place, text, LONGEST[language]) if place is not None else ""
    return passage if all(occurs(fact.text, passage) for fact in wanted) else ""


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
