"""What a document says of a sentence of an answer: typed edits are verified by it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from random import Random

from data_pipeline.edits.edit import Edit, make_edit
from data_pipeline.text.content import keys
from data_pipeline.text.facts import is_translation
from judge.prompting.sentences import sentence_spans
from judge.types import Span

LONGEST = 220
"""Characters of the span of an answer that one edit may cover: a change is told in one line."""

Candidate = tuple[int, int, str]
"""Start and end of a span of the answer, and the text that stands there after the edit."""


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[Span, ...]:
    """The sentences of a text, in order."""
    return sentence_spans(text)


def known(text: str, document: str, least: float = 1.0) -> bool:
    """Does the document hold such a share of the content words of a phrase?

    A document in another language knows every phrase: only a translation of it can say them.
    """
    wanted = keys(text)
    return is_translation(text, document) or len(wanted & keys(document)) >= least * len(wanted)


def sentence_at(text: str, place: int) -> Span:
    """The sentence of a text that holds a place."""
    return next((part for part in sentences(text) if part.start <= place < part.end), Span(0, len(text)))


def exchanged(answer: str, one: tuple[int, int], other: tuple[int, int]) -> Candidate | None:
    """Two spans of an answer change places; ``None`` where a capital cannot be told to be a name's.

    The first span may open a sentence: its capital is then kept by the place, not by the word.
    """
    (start, stop), (again, end) = sorted((one, other))
    first, second = answer[start:stop], answer[again:end]
    if stop > again or end - start > LONGEST or first.casefold() == second.casefold():
        return None
    return start, end, second + answer[stop:again] + first


def lowered(phrase: str, document: str) -> str | None:
    """A phrase from the start of a sentence as it stands inside one; ``None`` where that cannot be told."""
    head = re.match(r"\w+", phrase)
    if head is None or not phrase[0].isupper() or not head[0][1:].islower():
        return phrase
    word = head[0].lower()
    if word in ("the", "a", "an", "most", "some", "all", "many", "this", "these") or occurs_lower(
        word, document
    ):
        return phrase[0].lower() + phrase[1:]
    return phrase if re.search(rf"[a-z,] {re.escape(head[0])}\b", document) else None


def occurs_lower(word: str, document: str) -> bool:
    """Does the word stand in the document without a capital?"""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", document) is not None


def first_made(
    kind: str, answer: str, document: str, rng: Random, candidates: Iterable[Candidate | None]
) -> Edit | None:
    """Try candidates in random order until one makes a clean edit."""
    found: list[Candidate] = sorted({item for item in candidates if item is not None})
    rng.shuffle(found)
    for candidate in found:
        if edit := make_edit(kind, answer, document, [candidate]):
            return edit
    return None


def plural(phrase: str) -> bool:
    """Does a noun phrase look like a plural, or like two things?"""
    head = re.split(r" (?:of|with|without|in|for|from|who|aged|at|on|to)\b", phrase)[0]
    last = head.split()[-1].lower() if head.split() else ""
    if re.search(r"\band\b", head):
        return True
    return last in ("men", "women", "children", "people", "mice", "patients") or bool(
        re.search(r"[^su’']s$", last) and not re.search(r"(?:is|ics|itis|osis|ness)$", last)
    )
