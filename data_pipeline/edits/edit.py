"""One edit of an answer, and the rules that all edits share.

Every edit function takes answer, document, question and a random generator, and builds its result with
:func:`make_edit` (in Chinese with ``chinese_edit``). These ensure that the new answer differs, is not a
sentence of the document (a shorter span may be wrong), has about the same length and repeats nothing.
``from_document`` is true exactly if the inserted text occurs in the document, so that word overlap cannot
tell the two answers apart.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import NamedTuple

from data_pipeline.text.fact import Fact
from data_pipeline.text.sentences import starts_of
from judge.types import Language


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed answer: ``replaced`` became ``inserted``, and ``change`` describes this in one line."""

    answer: str
    edit_type: str
    change: str
    replaced: str
    inserted: str
    from_document: bool


EditFunction = Callable[[str, str, str, Language, Random], Edit | None]
"""Edits an answer, given its document, question and language."""
OwnEdit = Callable[[str, str, str, Random], Edit | None]
"""The same for answers of one language."""
Swap = tuple[int, int, str]
"""Start, end and the text to put there."""
Option = tuple[float, Fact, str]
"""A rank (low is good), a fact of the answer, and the text that may replace it."""


class Turn(NamedTuple):
    """A place where polarity can be flipped; ``removes`` is true if this drops a negation."""

    start: int
    end: int
    text: str
    removes: bool


_JOINT = r"(?:\s*(?:,|;|/|\(|、|，|和|与|及|或|以及|\band\b|\bor\b|&)\s*(?:and|or|和|与)?\s*)"
_ITEM = r"(?:[^\s,.;、，。；和与]+(?: [^\s,.;]+){0,2})"
_BETWEEN = re.compile(rf"(?: [a-z]+)?(?:{_JOINT}{_ITEM}){{0,4}}{_JOINT}(?:the |a |in |by |on )?")
"""The text between two items of a list, including up to four other items."""
STATEMENT: Mapping[Language, int] = {"en": 6, "zh": 10}
"""Words (characters) from which a text is a statement of its own, and true if it stands in the document."""
_LATIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_JOINS = _LATIN | frozenset("\u0130\u0131\u017f\u212a")
"""Characters that extend a Latin word; the last four become i, s or k when their case changes."""
_ENDS_LATIN = re.compile(r"[A-Za-z0-9]$")
_LONG = 200
_MARKS = re.compile(r"[\W_]+")
_REACH = 400
"""Most characters between the two items of a list."""

_WHAT = {
    "number": "the number",
    "date": "the date or time",
    "year": "the year",
    "entity": "the name",
    "negation": "the polarity of the statement:",
    "comparative": "the direction word",
}


def make_edit(kind: str, answer: str, document: str, swaps: list[Swap], what: str = "") -> Edit | None:
    """Apply ``swaps`` (start, end, text) to an English answer; ``None`` if the result is not clean."""
    new = answer
    for start, end, text in sorted(swaps, reverse=True):
        before = new[:start]
        if text[:1].islower() and answer[start : start + 1].isupper() and at_start(before):
            text = text[0].upper() + text[1:]
        article = re.search(r"\b([Aa])n? $", before)
        if article and article[0].strip() in ("a", "an", "A", "An"):
            before = before[: article.start()] + article[1] + ("n " if _vowel(text) else " ")
        new = before + text + new[end:]
    start, end, inserted = swaps[0]
    replaced = answer[start:end]
    if bare(new) == bare(answer) or not length_ok(answer, new):
        return None
    if len(new.split()) >= STATEMENT["en"] and bare(new) in bare(document):
        return None
    if lowered(new).count(inserted.lower()) > 1 and re.search(
        rf"(?<!\w)({re.escape(inserted)})\W+(?:(?:and|or|to)\W*)?\1(?!\w)", new, re.I
    ):
        return None
    change = f"{_WHAT[what or kind]} '{replaced}' was changed to '{inserted}'"
    return Edit(new, kind, change, replaced, inserted, occurs(inserted, document))


def first_clean(kind: str, answer: str, document: str, rng: Random, options: Iterable[Option]) -> Edit | None:
    """Try swaps, better-ranked first, until one makes a clean edit."""
    for fact, text, what in ranked(kind, options, rng):
        if edit := make_edit(kind, answer, document, [(fact.start, fact.end, text)], what):
            return edit
    return None


def ranked(kind: str, options: Iterable[Option], rng: Random) -> Iterator[tuple[Fact, str, str]]:
    """Facts, their possible replacements and what to call each: by rank, in random order within a rank."""
    drawn = sorted(options, key=lambda item: (item[1].start, item[2]))
    rng.shuffle(drawn)
    for _, fact, text in sorted(drawn, key=lambda item: item[0]):
        yield fact, text, "year" if fact.form == "year" else kind


def occurs(text: str, document: str) -> bool:
    """Does ``text`` occur in ``document`` as whole words and numbers (ignoring case)?"""
    # Called millions of times per build, hence no pattern: compiling one costs more than the search.
    held, sought = lowered(document), lowered(text)
    at = held.find(sought) if sought else -1
    if at < 0:
        return False
    opens, ends = text[0] in _LATIN, _ENDS_LATIN.search(text) is not None
    while at >= 0:
        end = at + len(sought)
        cut = opens and (document[at - 1 : at] in _JOINS or _is_point(document[max(at - 2, 0) : at]))
        if not cut and not (
            ends and (document[end : end + 1] in _JOINS or _is_point(document[end : end + 2][::-1]))
        ):
            return True
        at = held.find(sought, at + 1)
    return False


def _is_point(marks: str) -> bool:
    """Are these a digit and the mark that joins it to more digits (the mark second)?"""
    return len(marks) == 2 and marks[1] in ".," and marks[0].isdecimal()


def lowered(text: str) -> str:
    """A text in lower case, of the same length. Long texts are cached."""
    if len(text) > _LONG:
        return _lowered(text)
    return text.lower() if text.isascii() else _small(text)


def _small(text: str) -> str:
    small = text.lower()
    if len(small) != len(text):  # a letter whose lower case is two characters stays as it is
        small = "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
    return small


_lowered = lru_cache(maxsize=64)(_small)


def bare(text: str) -> str:
    """The letters and digits of a text, so that texts that differ only in punctuation are equal.

    Cached, since each sentence is compared with many, and every edit of a sample asks for its document.
    """
    return _bare(text) if len(text) < _LONG else _bare_document(text)


def _without_marks(text: str) -> str:
    return _MARKS.sub("", text).casefold()


_bare, _bare_document = lru_cache(maxsize=4096)(_without_marks), lru_cache(maxsize=256)(_without_marks)


def same_case(old: str, new: str) -> str:
    """``new`` with a capital where ``old`` has one."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def at_start(before: str) -> bool:
    """Does a sentence start after ``before``?"""
    return not before.strip() or before.rstrip(' "“(').endswith((".", "!", "?", ":", "\n"))


def length_ok(old: str, new: str) -> bool:
    """Is a changed answer about as long as before?"""
    return abs(len(new) - len(old)) <= max(12, 0.2 * len(old))


def _vowel(text: str) -> bool:
    return bool(
        re.match(r"(?:[aeiou](?!ni[vtqo]|ne\b|u)|hour|hono|heir|8|11(?!\d)|18(?!\d)|11,|18,)", text, re.I)
    )


def listed_together(first: str, second: str, document: str) -> bool:
    """Are the two joined by "and", "or" or commas somewhere? Then what is true of one may be true of both."""
    return any(
        _BETWEEN.fullmatch(document, start, end)
        for one, two in ((first, second), (second, first))
        for start in (at + len(one) for at in starts_of(one, document))
        for end in starts_of(two, document, start, start + _REACH)
    )


def digits_of(text: str) -> str:
    """The digits of a text."""
    return re.sub(r"\D", "", text)


def fits(old: str, new: str, answer: str, question: str, document: str) -> bool:
    """May ``new`` replace ``old``: is it another fact, not named yet, and never listed together with it?"""
    if bare(old) == bare(new) or occurs(new, answer) or occurs(new, question):
        return False
    return not listed_together(old, new, document)
