"""English questions and answers turned into statements, by rule.

The question word decides where the answer goes; the auxiliary moves back behind the subject. The verb shows
where the subject ends, so a sentence is made only if exactly one word can be the verb. Verb forms come from
lemminflect.
"""

import re
from functools import lru_cache

from data_pipeline.pairs.answers_en import NUMERIC, adverbial, bare, duration, in_document, is_clause, lists
from data_pipeline.text.clauses_en import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    HAVE,
    MODALS,
    PREPOSITIONS,
    SUBORDINATORS,
    fill,
    fill_be,
    is_finite,
    is_noun_phrase,
    is_participle,
    is_verb_only,
    read_clause,
)

_WH = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.I)
_QUESTION = re.compile(
    r"^(?P<front>(?:[A-Z][^,?]{3,60}, )?)(?P<prep>(?:in|on|at|from|to|for|by|with|during) )?"
    r"(?P<wh>who|what|which|when|where|why|how (?:many|much|long|often|old))\b (?P<rest>.+?)\s*\??$",
    re.I,
)
_AGE = re.compile(r"(?<=^how old ).* when\b", re.I)
_TIME = re.compile(r"^(?:(?:what|which) )?(?P<noun>year|date|day|month|decade|century|time)$", re.I)
MOST = 16
"""Most words of an answer that is put into a sentence."""


@lru_cache(maxsize=16_384)
def english(question: str, answer: str, document: str) -> str | None:
    """The statement that answers a question, or ``None`` if no rule is sure of one."""
    question = " ".join(question.split())
    answer = " ".join(answer.split()).strip(" ,;.")
    if (
        not answer
        or len(answer.split()) > MOST
        or answer.count("(") != answer.count(")")
        or re.search(r"[.?!;:] |\n", answer)
        or len(_WH.findall(_AGE.sub("", question))) > 1
    ):
        return None
    found = _QUESTION.match(question)
    if not found or "," in found["rest"] or re.search(r"[()\"\[]|\bhappen", found["rest"]):
        return None
    words = found["rest"].split()
    wh, prep = found["wh"].lower(), (found["prep"] or "").strip().lower()
    if wh != "why" and is_clause(answer):
        return None
    said = in_document(answer, document)
    if said is None:
        return None
    if wh in ("who", "what", "which"):
        made = _who_what(wh, prep, words, said, document)
    elif wh in ("how many", "how much"):
        made = _how_many(wh, words, said) if not prep else None
    elif wh in ("when", "where", "why") and not prep:
        made = _adjunct(wh, words, adverbial(wh, answer, document))
    elif wh in ("how long", "how often"):
        made = _adjunct(wh, words, duration(wh, answer, prep))
    elif wh == "how old" and words[0] in BE and re.fullmatch(r"\d+", answer):
        made = _old(words, answer)
    else:
        made = None
    if not made:
        return None
    if found["front"] and made.split()[0].lower() in DETERMINERS:
        made = made[0].lower() + made[1:]
    made = found["front"] + made
    return made[0].upper() + made[1:] + "."


# --- Kinds of questions -------------------------------------------------------------------------------------


def _who_what(wh: str, prep: str, words: list[str], said: str, document: str) -> str | None:
    at = next((place for place, word in enumerate(words[:5]) if word.lower() in AUXILIARIES), None)
    noun = " ".join(words[:at]) if at is not None else ""
    if _TIME.match(noun) and at is not None:
        if noun.lower() in ("century", "decade") and not re.search(r"centur|\d0s", said):
            return None
        return _adjunct("when", words[at:], adverbial("when", bare(said), document, prep))
    if noun and (wh == "who" or not is_noun_phrase(noun)):
        at = None
    if at is None:
        return _subject_verb(wh, words, said) if not prep else None
    auxiliary, rest = words[at].lower(), words[at + 1 :]
    if not rest:
        return None
    if auxiliary in BE and not prep:
        return _with_be(wh, auxiliary, rest, said, noun)
    if auxiliary in HAVE and not prep and (is_participle(rest[0]) or not any(map(is_participle, rest))):
        fits = not lists(said, auxiliary) and len(rest) > 1
        return f"{said} {auxiliary} {' '.join(rest)}" if fits else None
    if auxiliary in MODALS and not prep and is_verb_only(rest[0]):
        return f"{said} {auxiliary} {' '.join(rest)}"
    clause = read_clause(auxiliary, rest)
    if clause is None:
        return None
    if prep:
        behind = said if said.split()[0].lower() in PREPOSITIONS else f"{prep} {said}"
        return " ".join([clause.subject, clause.verb, *clause.tail, behind])
    return fill(clause, said)


def _with_be(wh: str, be: str, rest: list[str], said: str, noun: str) -> str | None:
    """ "What is the capital of France?", "Who was elected?", "What was the museum called?"."""
    first = rest[0].lower()
    whole = " ".join(rest)
    if lists(said, be) and (noun or wh == "who" or is_participle(rest[0])):
        return None
    if is_participle(rest[0]) or first.endswith("ing") or first in PREPOSITIONS:
        return f"{said} {be} {whole}" if rest[-1] not in PREPOSITIONS else None
    clause = read_clause(be, rest)
    related = any(word in SUBORDINATORS for word in rest)
    if clause is not None and clause.tail and not related:
        return fill_be(clause, said)
    if rest[-1] in PREPOSITIONS or any(word.endswith("ly") for word in rest):
        return None
    if not related and any(is_participle(w) or is_verb_only(w) for w in rest[1:] if w.islower()):
        return None
    if first in DETERMINERS or re.search(r"[’']s?$", rest[0]):
        if noun or wh == "who":
            return f"{said} {be} {whole}" if first == "the" or wh != "who" else None
        sure = "of" in rest or len(rest) <= 4 or related
        return f"{whole} {be} {said}" if sure and not lists(said, be) else None
    if noun:
        return None
    if all(word[0].isupper() or word in ("of", "the", "and", "de") for word in rest):
        return f"{whole} {be} {said}" if said.split()[0] in ("a", "an", "the") else None
    return None


def _subject_verb(wh: str, words: list[str], said: str) -> str | None:
    """ "Who designed the bridge?", "Which team won the cup?"."""
    start = 0 if wh == "who" else next((at for at in range(min(3, len(words))) if is_finite(words[at])), None)
    if start is None or not is_finite(words[start]) or len(words) < start + 2 or lists(said, words[start]):
        return None
    alone = start == 0 and wh != "who"
    if alone and sum(map(is_finite, words)) > 1 and not SUBORDINATORS.intersection(words):
        return None
    if start and not is_noun_phrase(" ".join(words[:start])):
        return None
    adjective = alone and words[0].endswith("ed") and words[1].islower()
    if adjective and words[1] not in DETERMINERS | PREPOSITIONS:  # what acquired condition
        return None
    if words[-1] in PREPOSITIONS or words[start].lower() in ("happens", "happened"):
        return None
    return " ".join([said, *words[start:]])


def _how_many(wh: str, words: list[str], said: str) -> str | None:
    at = next((place for place, word in enumerate(words[:6]) if word.lower() in AUXILIARIES), None)
    if at is None:
        at = next((place for place, word in enumerate(words[:4]) if is_finite(word)), None)
    said = bare(said)
    if at and NUMERIC.match(said) and said.split()[0].isalpha():
        said = said[0].lower() + said[1:]
    if at is None or not at or not NUMERIC.match(said):
        return None
    noun = " ".join(words[:at])
    if NUMERIC.fullmatch(said):
        said = f"{said} {noun}" if wh == "how many" and said.lower() not in ("one", "1") else ""
    elif words[at - 1].lower()[:4] not in said.lower() and wh == "how many":
        said = ""
    if not said:
        return None
    auxiliary, rest = words[at].lower(), words[at + 1 :]
    if auxiliary in BE and rest[:1] == ["there"]:
        return " ".join(["there", auxiliary, said, *rest[1:]])
    if auxiliary not in AUXILIARIES:
        return " ".join([said, *words[at:]]) if rest and not auxiliary.endswith("s") else None
    if rest[:1] == ["be"] or (
        auxiliary in BE and rest and (is_participle(rest[0]) or rest[0] in PREPOSITIONS)
    ):
        return " ".join([said, auxiliary, *rest])
    clause = read_clause(auxiliary, rest) if auxiliary not in BE and rest else None
    return fill(clause, said) if clause else None


def _adjunct(wh: str, words: list[str], said: str | None) -> str | None:
    """When, where, why and how long: the answer goes to the end."""
    if not said or words[0].lower() not in AUXILIARIES or len(words) < 2 or words[1].lower() == "it":
        return None
    clause = read_clause(words[0].lower(), words[1:])
    if clause is None:
        be, noun = words[0].lower(), words[1:]
        if be not in BE or wh != "where" or PREPOSITIONS.difference(("of",)).intersection(noun):
            return None
        # May there be a predicate in what should be only a noun?
        loose = any(word.islower() and (is_participle(word) or word.endswith("ly")) for word in noun[1:])
        return f"{' '.join(noun)} {be} {said}" if len(noun) <= 5 and not loose else None
    if clause.tail and clause.tail[-1] in PREPOSITIONS:
        return None
    return " ".join([clause.subject, clause.verb, *clause.tail, said])


def _old(words: list[str], answer: str) -> str | None:
    at = next((place for place, word in enumerate(words) if word in ("when", "at", "during")), len(words))
    if at < 2:
        return None
    return " ".join([*words[1:at], words[0].lower(), answer, "years old", *words[at:]])
