"""A second passage next to a document, which has the answer's words but is about something else.

Without it, the document that no longer supports an answer would be the one without its words, and looking
these up would be enough. Both samples get the same passage, from another document that has the words.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from data_pipeline.edits.edit import bare, occurs
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.parts import is_table, parts_of, texts_of
from data_pipeline.pairs.documents.supporting import SHORT
from data_pipeline.text.content import words_of
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import answer_facts
from judge.baselines.overlap import units
from judge.types import Language, Sample

LONGEST = {"en": 900, "zh": 450}
"""Most characters of a passage."""
TRIED = 4
"""At most this many texts are tried."""
STRANGE = {True: 0.34, False: 0.15}
"""Largest share of the question's words in a passage: if the answer is a number, date or name, or not."""


def add_distractor(contrast: Contrast, gold: Sample, texts: Sequence[str], rng: Random) -> Contrast | None:
    """Add the same passage to both documents of a pair.

    ``None`` if the hallucinated sample's document still has everything that its answer names, or if no other
    text has what is missing.

    Args:
        contrast: the edit of a document.
        gold: the sample it was made from.
        texts: paragraphs of documents of its kind.
        rng: decides which passage, and whether it comes first or last.
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
    """Does a passage repeat a sentence of the document? Windows of one article overlap."""
    there = bare(document)
    return any(bare(text) in there for text in texts_of(passage))


def _passage(wanted: Sequence[Fact], text: str, language: Language) -> str:
    """Some sentences of a text that hold all the facts; empty if there are none."""
    if is_table(text):
        return ""
    place = next((n for n, part in enumerate(texts_of(text)) if occurs(wanted[0].text, part)), None)
    passage = _around(place, text, LONGEST[language]) if place is not None else ""
    return passage if all(occurs(fact.text, passage) for fact in wanted) else ""


def _around(at: int, text: str, longest: int) -> str:
    """The sentences around one, as many as fit, from one paragraph; empty if that is only one."""
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
