"""Answers to English questions in the form they need in a statement: article, preposition, number, verb.

The document decides how: "1931" becomes "in 1931", and "bridge" becomes "the bridge".
"""

import re

from data_pipeline.text.clauses_en import (
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    SUBORDINATORS,
    is_finite,
    is_verb_only,
)

_PLACE = frozenset(("in", "on", "at", "near", "under", "inside", "outside", "along", "within", "across"))
_AFTER_NOUN = {*PREPOSITIONS, *AUXILIARIES, *SUBORDINATORS, "and", "or"}
NUMERIC = re.compile(
    r"(?:[a-z]+ ){0,2}?(?:[$€£]?\d[\d,.]*%?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|twenty|thirty|hundreds|thousands|millions|several|hundred)(?: (?:million|billion|thousand|hundred))?",
    re.I,
)


def in_document(answer: str, document: str) -> str | None:
    """An answer with the article it has in the document, without the capital of a sentence start."""
    first = answer.split()[0]
    if first.lower() in DETERMINERS:
        return first.lower() + answer[len(first) :]
    before = re.search(
        rf"\b([Tt]he|[Aa]n?|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er) {re.escape(answer)}(?![\w-])(?: (\w+))?", document
    )
    if not before:
        return answer
    after = before[2]
    # "the Boston area" gives Boston no article, and the first word of "a global sense" means nothing alone.
    if after and after.lower() not in _AFTER_NOUN and not is_finite(after):
        return None if answer[0].islower() else answer
    return f"{before[1].lower()} {answer}"


def is_clause(answer: str) -> bool:
    """Does an answer have a verb of its own?"""
    words = re.findall(r"[\w’'-]+", answer)
    if words and words[0].lower() in SUBORDINATORS | {"how", "what", "they", "it", "he", "she"}:
        return True
    return any(
        word in AUXILIARIES or word == "be" or is_finite(word) or (is_verb_only(word) and before != "to")
        for before, word in zip(["", *words], words, strict=False)
    )


def bare(said: str) -> str:
    """An answer without the article."""
    return re.sub(r"^(?:the|an?|its|their|his|her) ", "", said)


def lists(said: str, verb: str) -> bool:
    """Would a verb in the singular have several subjects, or things in the plural?"""
    if not (verb in ("is", "was", "has") or verb.endswith("s")):
        return False
    return bool(re.search(r",| and | or |[(]|^[a-z]*(?<!s)s\b| [a-z]+(?<![sui])s\b", said))


def adverbial(wh: str, answer: str, document: str, prep: str = "") -> str | None:
    """An answer to when, where or why, with the preposition that it has in the document."""
    first = answer.split()[0].lower()
    if wh == "why":
        return answer if first in ("because", "due") or re.match(r"(?:in order )?to [a-z]+", answer) else None
    if first in PREPOSITIONS or answer.lower() in ("today", "yesterday", "annually"):
        return answer[0].lower() + answer[1:]
    if prep:
        return f"{prep} {'the ' if answer.endswith('0s') else ''}{answer}"
    mentions = re.findall(
        rf"\b(\w+)((?: (?:the|an?|early|late|mid|about|around|its|their))? )(?<!\w){re.escape(answer)}(?!\w)",
        document,
    )
    found = {(word.lower(), rest) for word, rest in mentions}
    if len(found) == 1:  # with two mentions, "near Kessel" and "in Kessel", it is open which one is asked for
        ((word, rest),) = found
        if word in (_PLACE if wh == "where" else ("in", "on", "at", "by", "since", "during")):
            return f"{word}{rest}{answer}"
    if wh == "when" and re.fullmatch(r"(?:[A-Z][a-z]+ )?\d{4}s?", answer):
        return f"in {'the ' if answer.endswith('s') else ''}{answer}"
    return None


def duration(wh: str, answer: str, prep: str) -> str | None:
    """An answer to how long or how often, with "for" where a length of time needs it."""
    if wh == "how often":
        return answer if re.match(r"(?:every|once|twice|each|annually|daily|weekly)", answer) else None
    if answer.split()[0].lower() in PREPOSITIONS:
        return answer if not prep else None
    unit = re.search(r"(?:years?|months?|days?|hours?|minutes?|weeks?|centuries)$", answer)
    return f"for {answer}" if unit and NUMERIC.match(answer) else None
