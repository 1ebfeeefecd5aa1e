"""Why an item is not usable, as far as rules can tell: reasons that continue a sentence with "it ...".

Rules only compare words; whether something is true is asked of a second teacher.
"""

import re
from collections.abc import Sequence

from data_pipeline.edits.edit import bare, occurs
from data_pipeline.edits.verify import Change, Rejected, content, verify
from data_pipeline.teachers.lookup import sentences, stands
from data_pipeline.teachers.perturbing import in_form
from data_pipeline.text.content import terms
from data_pipeline.text.facts import find_facts
from judge.types import Sample

NAME_WORDS = 6
"""Most words of a name; a longer line is a remark."""
FACT_WORDS = (3, 25)
KNOWN_SHARE = 0.65
"""Share of a fact's content words that must be in its description. Chosen on the released files."""
CONTEXT_WORDS = (5, 60)
MIN_DESCRIPTION = 8
"""Fewest words of a usable description."""
SLACK = 1.5
"""A description may be this many times as long as asked for."""

_MARK = re.compile(r"^(?:[-*•·]+|\(?\d{1,3}[.)])\s+")
_HEAD = re.compile(r"^(?:fact|sentence|answer|context|description|statement)s?\s*\d*\s*:\s*", re.IGNORECASE)
_TOLD = re.compile(
    r"\bDOCUMENT\b"
    r"|\b(?i:the (?:document|text|description|passage) (?:adds|describes|mentions|says|states|tells))\b"
)
_QUOTES = '"“”*_` '


def lines_of(text: str) -> list[str]:
    """The items of a reply, one per line, without bullets, numbers, quotation marks and headings."""
    items = (
        _HEAD.sub("", _MARK.sub("", line.strip()).strip(_QUOTES)).strip(_QUOTES) for line in text.splitlines()
    )
    return [" ".join(item.split()) for item in items if item and not item.endswith(":")]


def text_of(text: str) -> str:
    """A reply that is one text, on one line."""
    return " ".join(lines_of(text))


def statements_of(text: str) -> list[str]:
    """The sentences of a reply that should have one per line but often has several."""
    return [part for line in lines_of(text) for part in sentences(line)]


def sentence_of(text: str) -> str:
    """An item as a sentence with a full stop; empty stays empty."""
    return text if not text or text[-1] in ".!?" else f"{text}."


def names(entity: str, text: str) -> bool:
    """Does a text name an entity, ignoring endings, punctuation and articles?"""
    wanted = terms(entity)
    return (wanted - {"the", "a", "an"} or wanted) <= terms(text)


def fault_of_name(name: str, category: str) -> str | None:
    """Why a line is not the name of an entity; ``None`` if it may be."""
    if len(name.split()) > NAME_WORDS or not bare(name) or name[-1] in ".!?":
        return "is not a name"
    return "is the category itself" if terms(name) == terms(category) else None


def fault_of_description(text: str, entity: str, words: int) -> str | None:
    """Why a text is not a description of an entity; ``words`` is the length asked for, 0 for any."""
    count = len(text.split())
    if count < MIN_DESCRIPTION:
        return "is too short"
    if words and count > SLACK * words:
        return "is too long"
    return None if names(entity, text) else "does not name the entity"


def fault_of_fact(fact: str, entity: str, description: str) -> str | None:
    """Why a sentence is not an atomic fact that a description states."""
    low, high = FACT_WORDS
    if not low <= len(fact.split()) <= high or fact[-1] == "?":
        return "is not a short statement"
    if not names(entity, fact):
        return "does not name the entity"
    if not content(fact) - content(entity):
        return "says nothing"
    if _TOLD.search(fact):
        return "speaks of the document"
    there = all(stands(value, description, "en") for value in find_facts(fact, "en"))
    words = content(fact).keys()
    known = len(words & content(description).keys()) / len(words)
    return None if there and known >= KNOWN_SHARE else "is not in the description"


def edit_of(
    fact: str, hallucination: str, entity: str, description: str
) -> tuple[str, list[Change]] | Rejected:
    """A false sentence in the form of its fact, with its changes; or why it is not a clean edit."""
    new = in_form(fact, hallucination)
    edits = verify(Sample("fact", description, fact), new)
    if isinstance(edits, Rejected):
        return Rejected(f"no clean edit: {edits.reason}")
    if not all(edit.replaced for edit in edits):
        return Rejected("no clean edit: adds instead of changing", new)
    return (new, edits) if names(entity, new) else Rejected("changes the entity")


def fault_of_context(context: str, entity: str, fact: str, edits: Sequence[Change]) -> str | None:
    """Why a text is not a context for a fact and its hallucination."""
    low, high = CONTEXT_WORDS
    if not low <= len(context.split()) <= high:
        return "is too short or too long"
    if not names(entity, context):
        return "does not name the entity"
    if bare(fact) in bare(context):
        return "repeats the fact"
    if any(edit.inserted and occurs(edit.inserted, context) for edit in edits):
        return "mentions what is false"
    return None
