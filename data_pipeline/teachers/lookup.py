"""Looking things up in a document: where a fact stands, and which clause matches given words best."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from data_pipeline.edits.edit import lowered, occurs
from data_pipeline.text.content import terms
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import find_facts
from data_pipeline.text.names_en import GENERIC
from data_pipeline.text.numbers import SMALL_WORDS, numeral_of
from judge.types import Language

_SMALL_NUMBERS: Mapping[Language, Mapping[int, str]] = {
    "en": dict(enumerate(SMALL_WORDS, start=2)),
    "zh": {value: numeral_of(value, False) for value in range(2, 11)},
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+|(?<=[\uff0c\uff1b\uff1a])"
    r"|\s+(?=(?:and|but|while|which|who|because|when|after|before|although)\b)"
)
_CAPITAL = re.compile(r"\b(?=\w*[A-ZÀ-Ý])\w{2,}")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, stripped."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence."""
    return [part.strip() for part in _CLAUSE.split(sentence) if part.strip()] or [sentence]


class _Cut(NamedTuple):
    """A sentence in clauses, and the terms of both."""

    clauses: list[str]
    terms: frozenset[str]
    of_clauses: list[frozenset[str]]


@lru_cache(maxsize=2048)
def _cut(sentence: str) -> _Cut:
    """Cached, since many documents share passages."""
    parts = clauses(sentence)
    return _Cut(parts, frozenset(terms(sentence)), [frozenset(terms(part)) for part in parts])


class Lookup:
    """A document cut into clauses that can be ranked by the terms they share with a query."""

    def __init__(self, document: str, language: Language):
        self.document = document
        self.language = language
        self.sentences = sentences(document) or [document]
        cut = [_cut(sentence) for sentence in self.sentences]
        self.clauses = [clause for found in cut for clause in found.clauses]
        self._sentence_of = [at for at, found in enumerate(cut) for _ in found.clauses]
        self._in_sentence = [found.terms for found in cut]
        self._in_clause = [there for found in cut for there in found.of_clauses]
        held = Counter(term for found in self._in_sentence for term in found)
        self._weight = {term: math.log(1 + len(self.sentences) / count) for term, count in held.items()}
        self._holding: dict[Fact, list[int]] = {}

    def scores(self, wanted: set[str]) -> list[float]:
        """Score every clause by the weight of the wanted terms in it plus that of those in its sentence.

        Terms that occur in few sentences weigh more.
        """
        wanted = wanted & self._weight.keys()
        whole = [self._sum(wanted & found) for found in self._in_sentence]
        pairs = zip(self._in_clause, self._sentence_of, strict=True)
        # If a sentence holds none of the terms, its clauses hold none either.
        return [self._sum(wanted & found) + whole[at] if whole[at] else 0.0 for found, at in pairs]

    def _sum(self, shared: set[str]) -> float:
        # Exact, so the order of the set does not matter.
        return math.fsum(map(self._weight.__getitem__, shared)) if shared else 0.0

    def best(self, wanted: set[str]) -> int:
        """The clause with the highest score; the first one of a tie."""
        scores = self.scores(wanted)
        return scores.index(max(scores))

    def cover(self, wanted: set[str], clause: int) -> float:
        """Share of the wanted terms found in a clause."""
        return len(wanted & self._in_clause[clause]) / len(wanted) if wanted else 0.0

    def known(self, wanted: set[str]) -> float:
        """Share of the wanted terms found anywhere in the document."""
        return len(wanted & self._weight.keys()) / len(wanted) if wanted else 1.0

    def sentence(self, clause: int) -> str:
        """The sentence that a clause is part of."""
        return self.sentences[self._sentence_of[clause]]

    def holding(self, fact: Fact) -> list[int]:
        """The clauses in which a fact stands."""
        if fact not in self._holding:
            spelled = spellings(fact, self.language)
            if fact.kind != "entity":  # parts of a name may occur where the name does not
                spelled = tuple(text for text in spelled if lowered(text) in lowered(self.document))
            self._holding[fact] = [
                at
                for at, clause in enumerate(self.clauses)
                if spelled and stands(fact, clause, self.language, spelled)
            ]
        return self._holding[fact]

    def facts(self, clause: int) -> tuple[Fact, ...]:
        """The facts of a clause."""
        return find_facts(self.clauses[clause], self.language)


@lru_cache(maxsize=8)
def look_into(document: str, language: Language) -> Lookup:
    """The lookup of a document. Cached, since the samples of a pair follow each other."""
    return Lookup(document, language)


def stands(fact: Fact, text: str, language: Language, spelled: Sequence[str] = ()) -> bool:
    """Does a fact occur in a text, in any spelling? Of English names, the last part and half of all suffice.

    ``spelled`` are its :func:`spellings`, if already known.
    """
    if any(occurs(spelling, text) for spelling in spelled or spellings(fact, language)):
        return True
    if fact.kind != "entity":
        return False
    if language == "zh":  # the name may have caught a verb before it
        return len(fact.text) > 3 and fact.text[1:] in text
    parts = [part for part in _CAPITAL.findall(fact.text) if part.lower() not in GENERIC]
    there = [occurs(part, text) for part in parts]
    return bool(there) and there[-1] and 2 * sum(there) >= len(there)


@lru_cache(maxsize=4096)
def spellings(fact: Fact, language: Language) -> tuple[str, ...]:
    """The ways to write a fact: with and without thousands separators, in words, day and month swapped."""
    return tuple(dict.fromkeys(_spellings(fact, language)))


def _spellings(fact: Fact, language: Language) -> Iterator[str]:
    text = fact.text
    yield text
    if fact.kind == "date":
        day = re.fullmatch(r"(\w+) (\w+)", text)
        if day:
            yield f"{day[2]} {day[1]}"
        if fact.form == "year":
            yield text.rstrip("年")
    elif fact.kind == "number":
        table = _SMALL_NUMBERS[language]
        plain = text.replace(",", "")
        if plain.isdecimal():
            yield plain
            yield f"{int(plain):,}"
            yield table.get(int(plain), text)
        yield from (str(value) for value, word in table.items() if word == text.lower())
        if text.endswith("%"):
            yield from (text.replace("%", word) for word in (" percent", " per cent", " %"))
        if magnitude := re.fullmatch(r"([\d.,]+)\s?(?:million|billion|thousand|trillion)", text):
            yield magnitude[1]  # a table may have the magnitude in its heading
