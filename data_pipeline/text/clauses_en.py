"""Subject and verb of English clauses, filling their gap, and verb forms, by lemminflect's tables.

The verb shows where a subject ends, so a clause is read only if it is clear which word is the verb.
"""

import re
from functools import lru_cache
from typing import NamedTuple

BE = ("is", "are", "was", "were")
DO = ("do", "does", "did")
MODALS = ("can", "could", "will", "would", "should", "must", "may", "might")
HAVE = ("has", "have", "had")
AUXILIARIES = (*BE, *DO, *MODALS, *HAVE)
PREPOSITIONS = frozenset(
    ("in", "on", "at", "of", "to", "for", "from", "by", "with", "into", "as", "about", "after", "before",
     "during", "against", "under", "over", "between", "through", "near", "around", "since", "until", "within",
     "without", "towards", "toward", "among", "along", "across", "upon", "off", "behind", "outside", "inside")
)  # fmt: skip
SUBORDINATORS = frozenset(
    ("when", "while", "after", "before", "because", "if", "that", "which", "who", "where")
)
DETERMINERS = frozenset(
    ("the", "a", "an", "its", "their", "his", "her", "this", "that", "these", "those", "our", "some", "any",
     "all", "most", "many", "each", "every", "both", "no", "other", "another", "two", "three",
     "first", "last")
)  # fmt: skip
PRONOUNS = frozenset(("he", "she", "it", "they", "we", "i", "you"))
_NAMING = frozenset(("called", "named", "known", "renamed", "considered", "titled", "labeled", "labelled"))
# Verbs whose object is rarely a thing, or that take another verb.
_NOT_WITH_OBJECT = frozenset(
    ("do", "say", "think", "believe", "claim", "help", "let", "make", "happen", "want", "need", "try", "mean",
     "like", "allow", "cause", "require", "ask", "call", "tell", "give", "show", "suggest", "argue", "state",
     "find", "indicate", "imply", "hope", "expect", "plan", "look", "consider", "refer", "force", "name")
)  # fmt: skip


class Clause(NamedTuple):
    """A statement with a gap: subject, auxiliary or verb, and the rest."""

    subject: str
    verb: str
    tail: list[str]


def read_clause(auxiliary: str, words: list[str]) -> Clause | None:
    """Subject, verb and rest of the words after an auxiliary; ``None`` unless the verb is clear."""
    kind = "base" if auxiliary in (*DO, *MODALS) else "participle"
    at = _verb_place(words, kind)
    if at is None or (auxiliary in HAVE and words[at].endswith("ing")):
        return None
    start = at
    while start > 1 and (
        words[start - 1].endswith("ly") or words[start - 1] in ("also", "not", "first", "often")
    ):
        start -= 1
    subject, between, verb, tail = " ".join(words[:start]), words[start:at], words[at], words[at + 1 :]
    if "not" in between or subject.split()[-1].lower() in (*PREPOSITIONS, "and", "or"):
        return None
    if auxiliary in DO:
        form = {"did": "VBD", "does": "VBZ"}.get(auxiliary)
        inflected = inflect(verb, form) if form else verb
        return Clause(" ".join([subject, *between]), inflected, tail) if inflected else None
    if auxiliary in BE:
        return Clause(subject, auxiliary, [*between, verb, *tail])
    return Clause(subject, " ".join([auxiliary, *between, verb]), tail)


def _verb_place(words: list[str], kind: str) -> int | None:
    """The position of the verb: after a pronoun, or of the one word that can be a verb."""

    def may_be(at: int) -> bool:
        word, before = words[at], words[at - 1].lower()
        if (
            not word.islower()
            or re.search(r"[’']s?$", before)
            or before in DETERMINERS | PREPOSITIONS | {"and", "or", "to", "not"}
        ):
            return False
        return bool(base_of(word)) if kind == "base" else is_participle(word) or word.endswith("ing")

    places = [at for at in range(1, len(words)) if may_be(at)]
    first = next((at for at, word in enumerate(words) if at and word in SUBORDINATORS), len(words))
    places = [at for at in places if at < first]
    if not places:
        return None
    if words[0].lower() in PRONOUNS:
        return places[0] if places[0] <= 2 else None
    if len(places) == 1:
        return places[0]
    if kind == "base":
        sure = [at for at in places if base_of(words[at]) == "only"]
        return sure[0] if sure and sure[0] == places[0] else None
    # A later participle after a preposition belongs to the phrase there.
    between = words[places[0] + 1 : places[1]]
    return places[0] if any(word in PREPOSITIONS for word in between) else None


def fill_be(clause: Clause, said: str) -> str | None:
    """Fill the gap of "what was X called" or "what was X made of"; not of "what was X built to do"."""
    tail = clause.tail
    head = " ".join([clause.subject, clause.verb])
    place = next((at for at, word in enumerate(tail) if word in _NAMING), None)
    if said.split()[0].lower() in PREPOSITIONS or sum(map(is_participle, tail)) > 1:
        return None
    if tail[-1] in PREPOSITIONS or (place is not None and tail[-1] == tail[place]):
        return f"{head} {' '.join(tail)} {said}"
    for at, word in enumerate(tail):
        if word in PREPOSITIONS and at and tail[at + 1] in PREPOSITIONS:
            return " ".join([head, *tail[: at + 1], said, *tail[at + 1 :]])
    return None


def fill(clause: Clause, said: str) -> str | None:
    """Insert an object after its verb, or after the preposition that lacks one."""
    verb, tail = clause.verb.split()[-1], clause.tail
    head = f"{clause.subject} {clause.verb}"
    base, *_ = lemmas_of(verb).get("VERB") or (verb,)
    if (
        base in _NOT_WITH_OBJECT
        or said.split()[0].lower() in PREPOSITIONS
        or re.match(r"(?:to|that|by|because|if)\b", said)
    ):
        return None
    if not tail:
        return f"{head} {said}"
    if tail[0] == "along":
        return None
    if tail[-1] in PREPOSITIONS and len(tail) <= 2:
        return " ".join([head, *tail, said])
    if tail[0] in PREPOSITIONS and tail[1] in PREPOSITIONS:
        return " ".join([head, tail[0], said, *tail[1:]])
    if tail[-1] in PREPOSITIONS:
        return None
    if tail[0] in (*PREPOSITIONS, "when", "while") and not (tail[0] == "to" and "VERB" in lemmas_of(tail[1])):
        return " ".join([head, said, *tail])
    return None


@lru_cache(maxsize=4096)
def lemmas_of(word: str) -> dict[str, tuple[str, ...]]:
    """The base forms of a word, by part of speech."""
    from lemminflect import getAllLemmas

    return dict(getAllLemmas(word))


def base_of(word: str) -> str:
    """Is a word the base form of a verb: "only" that, "also" another part of speech, or not (empty)?"""
    if word in ("have", "become"):
        return "only"
    if word in AUXILIARIES or word in PREPOSITIONS or word in DETERMINERS:
        return ""
    found = lemmas_of(word)
    if word not in found.get("VERB", ()) or len(found["VERB"]) > 1:  # found: to found, or of find
        return ""
    return "also" if {"NOUN", "ADJ", "ADV"} & found.keys() else "only"


def is_verb_only(word: str) -> bool:
    """Is a word the base form of a verb, and nothing else?"""
    return base_of(word) == "only"


@lru_cache(maxsize=4096)
def inflect(verb: str, form: str | None) -> str:
    """The form of a verb for a Penn Treebank tag; empty if unknown."""
    from lemminflect import getInflection

    found = getInflection(verb, tag=form)
    return str(found[0]) if found else ""


@lru_cache(maxsize=4096)
def is_participle(word: str) -> bool:
    """Is a word the past participle of a verb?"""
    if not word.islower() or not (bases := lemmas_of(word).get("VERB")):
        return False
    return any(inflect(base, "VBN") == word and base != word for base in bases)


@lru_cache(maxsize=4096)
def is_finite(word: str) -> bool:
    """Is a word a verb in the past tense or an unambiguous third person?"""
    if not word.islower() or not (bases := lemmas_of(word).get("VERB")) or word in AUXILIARIES:
        return False
    if any(inflect(base, "VBD") == word and base != word for base in bases):
        return True
    return "NOUN" not in lemmas_of(word) and any(inflect(base, "VBZ") == word for base in bases)


def is_noun_phrase(noun: str) -> bool:
    """Do a few words look like the name of a kind of thing?"""
    words = noun.split()
    return len(words) <= 3 and not any(
        word.lower() in PREPOSITIONS or word.lower() in ("type", "kind", "other", "else") for word in words
    )
