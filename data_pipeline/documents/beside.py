"""A second passage beside a document, which holds what an answer says and is about something else.

Without it the document that no longer bears an answer is the one where its words are nowhere: to look them
up would be enough. Both twins get the same passage.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from data_pipeline.contrast import Contrast
from data_pipeline.documents.bearing import SHORT, words_of
from data_pipeline.documents.parts import is_table, parts_of
from data_pipeline.perturb.edit import occurs
from judge.floors.overlap import units
from judge.types import Sample

LONGEST = 900
"""Characters of a passage; of a longer document, the sentences around the words. Half as many in Chinese."""
STRANGE = 0.34
"""Share of the question's words that a passage may hold."""


def put_beside(contrast: Contrast, gold: Sample, texts: Sequence[str], rng: Random) -> Contrast | None:
    """The pair with a passage beside both of its documents.

    ``None`` where what the hallucinated twin's answer says is long, or still stands in its document, or where
    no other text holds it.

    Args:
        contrast: edits of a document.
        gold: the sample that they are about.
        texts: other documents.
        rng: decides which, and where it stands.
    """
    said = contrast.inserted.strip(" .。")
    left, kept = contrast.hallucinated_document or "", contrast.faithful_document or ""
    if len(units(said, gold.language)) > SHORT[gold.language] or occurs(said, left) or is_table(left):
        return None
    asked = words_of(contrast.question or gold.question, gold.language) - words_of(said, gold.language)
    for text in _holding(said, gold.document_text, texts, rng):
        passage = _around(said, text, gold.language == "zh")
        held = words_of(passage, gold.language)
        if passage and len(asked & held) <= STRANGE * len(asked):
            first = rng.random() < 0.5

            def joined(document: str, passage: str = passage, first: bool = first) -> str:
                return "\n\n".join((passage, document) if first else (document, passage))

            return replace(contrast, faithful_document=joined(kept), hallucinated_document=joined(left))
    return None


def _holding(said: str, document: str, texts: Sequence[str], rng: Random) -> list[str]:
    found = [text for text in texts if said in text and text != document and occurs(said, text)]
    rng.shuffle(found)
    return found[:4]


def _around(said: str, text: str, zh: bool) -> str:
    """The sentences around the first place of some words, as many as fit, from one paragraph."""
    longest = LONGEST // 2 if zh else LONGEST
    parts = parts_of(text)
    at = next((n for n, part in enumerate(parts) if occurs(said, text[part.start : part.end])), None)
    if at is None or is_table(text):
        return ""
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
