"""Shared code of Chinese edits: making and describing a change, and whether the document supports it too."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import permutations
from random import Random

from data_pipeline.edits.edit import (
    STATEMENT,
    Edit,
    Option,
    Swap,
    bare,
    length_ok,
    listed_together,
    occurs,
    ranked,
)
from data_pipeline.text.content import CJK
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts_zh import chinese_facts
from data_pipeline.text.segment_zh import plain, segment, written_like
from data_pipeline.text.sentences import starts_of
from data_pipeline.text.words import words

_WHAT = {"number": "数字", "date": "时间", "year": "年份", "entity": "名称"}
_CLAUSE = re.compile(r"[^，。；！？：,;!?:\n]+")
_END = re.compile(r"[，。；！？：,;!?:\n]")
_EMPTY = frozenset(words("empty_words_zh"))
MOST_SHARED = 0.7
"""A clause says the same if it holds this share of the words that the true answer's clause holds."""


def chinese_edit(kind: str, answer: str, document: str, swaps: list[Swap], what: str = "") -> Edit | None:
    """Apply ``swaps`` (start, end, text in simplified characters); ``None`` if the result is not clean.

    It must say something else, keep its length, not stand in the document, and repeat nothing.
    """
    model = document if CJK.search(document) else answer
    new = answer
    for start, end, text in sorted(swaps, reverse=True):
        new = new[:start] + written_like(text, model) + new[end:]
    start, end, text = swaps[0]
    replaced, inserted = answer[start:end], written_like(text, model)
    if bare(plain(new)) == bare(plain(answer)) or not length_ok(answer, new):
        return None
    if len(bare(new)) >= STATEMENT["zh"] and bare(plain(new)) in bare(plain(document)):
        return None
    twice = new.count(inserted) > 1 and re.search(rf"({re.escape(inserted)})[，、,]?[和与或至到]?\1", new)
    if twice and inserted * 2 not in answer:
        return None
    change = f"{_WHAT[what or kind]}“{replaced}”被改成“{inserted}”"
    return Edit(new, kind, change, replaced, inserted, occurs(inserted, document))


def names(text: str, question: str) -> bool:
    """Does a question name this already, in either script?"""
    return plain(text) in plain(question)


@lru_cache(maxsize=1024)
def terms(text: str) -> frozenset[str]:
    """The content words of a text: no particles, pronouns or question words."""
    return frozenset(
        word.text
        for word in segment(text)
        if (len(word.text) > 1 or word.tag[0] == "n")
        and word.tag[0] not in "xrupcdyqm"
        and word.text not in _EMPTY
    )


@lru_cache(maxsize=64)
def clauses(document: str) -> tuple[str, ...]:
    """The clauses of a text, unchanged."""
    return tuple(match[0] for match in _CLAUSE.finditer(document))


def _holding(text: str, document: str) -> Iterator[tuple[int, str]]:
    wanted = plain(text)
    return ((at, clause) for at, clause in enumerate(clauses(document)) if wanted in plain(clause))


def also_holds(old: str, new: str, context: str, document: str) -> bool:
    """May what is said of ``old`` hold for ``new`` too? ``context``: a question, or the rest of a statement.

    Compares clauses with only the new text against clauses with the old one, by how many words of ``context``
    they and the clause before them hold.
    """
    wanted = terms(context) - terms(old) - terms(new)
    if not wanted:
        return True  # nothing tells them apart
    parts = clauses(document)
    true = [at for at, _ in _holding(old, document)]

    def share(at: int) -> float:
        near = terms(parts[at])
        if at and (at in true or at - 1 not in true):
            near |= terms(parts[at - 1])
        return len(wanted & near) / len(wanted)

    own = max(map(share, true), default=0.0)
    others = [share(at) for at, _ in _holding(new, document) if at not in true]
    return max(others, default=0.0) >= max(0.3, MOST_SHARED * own)


_ALIAS = re.compile(
    r"[^，。；、]{0,6}[（(「“]?(?:又|亦|也|俗|简|旧|别|本|原|通|并)?(?:称|名|叫|作|即|字|号|为)[「“]?"
    r"|[”」』]?[（(][^（()）]{0,20}"
)
_IS = re.compile(r"，?(?:是|即|为)")
_MARKS = ("", *"，。；、）)（(")
_JOINS = re.compile(r"[^，。；]{0,4}[、和与及或][^，。；、和与及或]{0,6}")
_ALIAS_REACH = 24


def _between(one: str, two: str, document: str) -> Iterator[tuple[str, str]]:
    """The text between the two, where one soon follows the other, in either order; and some text behind."""
    text = plain(document)
    for a, b in permutations((plain(one), plain(two))):
        for at in starts_of(a, text):
            between, found, behind = text[at + len(a) : at + len(a) + _ALIAS_REACH + len(b)].partition(b)
            if found:
                yield between, behind


def same_thing(one: str, two: str, document: str) -> bool:
    """Does the document use both as names of one thing ("又称", or one in brackets after the other)?"""
    return any(
        _ALIAS.fullmatch(between) or (_IS.fullmatch(between) and behind[:1] in _MARKS)
        for between, behind in _between(one, two, document)
    )


def joined(one: str, two: str, document: str) -> bool:
    """Are the two joined by "and" or a list somewhere? Then what is true of one may be true of both."""
    return listed_together(one, two, document) or any(
        _JOINS.fullmatch(between) for between, _ in _between(one, two, document)
    )


def context_of(fact: Fact, answer: str, question: str) -> str:
    """What is said of a fact: the question if the answer is little more than the fact, else its clause."""
    if question and len(answer) <= len(fact.text) + 8:
        return question
    start = max((match.end() for match in _END.finditer(answer, 0, fact.start)), default=0)
    end = next((match.start() for match in _END.finditer(answer, fact.end)), len(answer))
    return f"{answer[start : fact.start]} {answer[fact.end : end]}"


def first_chinese(
    kind: str, answer: str, document: str, rng: Random, options: Iterable[Option]
) -> Edit | None:
    """Try swaps of every mention of a fact, better-ranked first, until one makes a clean edit."""
    for fact, text, what in ranked(kind, options, rng):
        same = [
            other
            for other in chinese_facts(kind, answer)
            if (other.text, other.form, other.unit) == (fact.text, fact.form, fact.unit)
        ]
        swaps: list[Swap] = [(other.start, other.end, text) for other in same or [fact]]
        if edit := chinese_edit(kind, answer, document, swaps, what):
            return edit
    return None
