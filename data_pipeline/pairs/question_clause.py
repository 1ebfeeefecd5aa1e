"""What a question asks, as a clause: "who designed the bridge", "when it was opened", 谁设计了这座桥."""

import re

from data_pipeline.text.clauses_en import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    MODALS,
    PREPOSITIONS,
    base_of,
    is_finite,
    is_participle,
    is_verb_only,
    read_clause,
)
from judge.types import Language

LONGEST = 22
"""Most words of a question to be made a clause; twice as many characters in Chinese."""
_WHAT = re.compile(
    r"(?:(?:in|on|at|from|to|by|for|with|of|during|under|after|through) )?"
    r"(?:who|whom|whose|what|which|when|where|why|how)\b",
    re.I,
)
_INNER = frozenset(
    (
        "who", "whom", "whose", "which", "when", "where", "why", "how", "what",
        "if", "because", "while", "whether", "that",
    )
)  # fmt: skip
"""Words that open a clause within a question: then the first verb may not be the main one."""
_ASKS_ZH = re.compile(r"谁|什么|何|哪|几|多少|怎么|怎样|多[大长久高远深重宽]")
_NO_CLAUSE_ZH = re.compile(
    r"吗|是否|是不是|有没有|能否|可否|请|列举|简述|[，,]|[：:；;。！!]|[？?].|下列|以下|上述|如下"
)


def question_clause(question: str, language: Language) -> str | None:
    """What a question asks, as a clause, or ``None`` if rules are not sure of its form."""
    text = re.sub(r"\s+", " ", question).strip()
    if language == "zh":
        return _asked_zh(text)
    if not text.endswith("?") or re.search(r"[.?!:;] ", text):
        return None
    tokens = text.rstrip("? ").split(" ")
    if not _WHAT.match(text) or len(tokens) > LONGEST or _INNER & {token.lower() for token in tokens[3:]}:
        return None
    tokens[0] = tokens[0][0].lower() + tokens[0][1:]
    place = next((at for at, token in enumerate(tokens) if at and token in AUXILIARIES), None)
    verb = next((at for at, token in enumerate(tokens) if at and is_finite(token)), None)
    if place is None or (verb is not None and verb < place):
        # "who designed the bridge": word order stays; a noun in between would have to be surely a noun.
        plain = verb is not None and verb <= 2 and tokens[0] in ("who", "what", "which")
        return " ".join(tokens) if plain else None
    return _straight(tokens[:place], tokens[place], tokens[place + 1 :])


def _straight(what: list[str], auxiliary: str, rest: list[str]) -> str | None:
    """The clause with its subject in front of the auxiliary; ``what`` is the question word and its noun."""
    if not rest or (len(what) > 1 and what[0] in ("who", "where", "when", "why")):
        return None
    if rest[0] == "there" or re.match(r"[a-z]+ly$|sometimes$|often$", rest[0]):
        return None
    if "being" in rest or "not" in rest or (auxiliary in DO and "to" in rest[:-1]):
        return None
    if auxiliary in BE and not any(map(is_participle, rest)):
        return _copula(what, auxiliary, rest)
    if (what[0] in ("who", "what", "which") or len(what) > 1) and _is_predicate(auxiliary, rest):
        return " ".join([*what, auxiliary, *rest])  # "who was elected": word order stays
    clause = read_clause(auxiliary, rest)
    if clause is None or any(word.endswith(",") for word in rest):
        return None
    if clause.subject.split()[-1] in ("second", "third", "most", "newly"):  # "the second reported case"
        return None
    if what == ["who"] and (auxiliary in BE or not any(map(is_verb_only, rest))):
        return None
    if auxiliary in BE and what in (["what"], ["which"]):
        # "what is the scale used to measure wind": only an open end shows where the answer is missing.
        open_end = rest[-1] in (*PREPOSITIONS, "called", "named")
        if not open_end or sum(map(is_participle, rest)) > 1:
            return None
    return " ".join([*what, clause.subject, clause.verb, *clause.tail])


def _is_predicate(auxiliary: str, rest: list[str]) -> bool:
    """Does the verb directly follow its auxiliary, so that the question word is the subject?"""
    if auxiliary in MODALS:
        sure = is_verb_only(rest[0]) or (base_of(rest[0]) != "" and rest[1:2] and rest[1] in DETERMINERS)
        return rest[0] == "be" or bool(sure)
    return auxiliary not in DO and rest[0] not in DETERMINERS and is_participle(rest[0])


def _copula(what: list[str], auxiliary: str, rest: list[str]) -> str | None:
    """ "what the capital of France is"; ``None`` if a preposition at the end makes the order unsure."""
    if auxiliary not in BE or not re.match(r"(?:the|a|an|its|his|her|their)$|[A-Z]", rest[0]):
        return None
    if (
        len(rest) > 9
        or re.search(r"(?:ing|ly)$", rest[-1])
        or rest[-1] in ("of", "to", "for", "in", "on", "at", "by", "like")
    ):
        return None
    if what == ["who"]:
        return " ".join([*what, auxiliary, *rest])
    if len(what) > 1 and what[0] in ("what", "which"):
        return " ".join([*what, auxiliary, *rest]) if rest[0] in ("a", "an") else None
    if what == ["how"] or what[0] not in ("what", "where", "how"):
        return None
    return " ".join([*what, *rest, auxiliary])


def _asked_zh(text: str) -> str | None:
    clause = re.sub(r"^请问[,，]?", "", text).rstrip("？? ")
    clause = re.sub(r"[呢呀啊]$", "", clause)
    if not text.endswith(("？", "?")) or not _ASKS_ZH.search(clause) or _NO_CLAUSE_ZH.search(clause):
        return None
    return clause if 4 <= len(clause) <= 2 * LONGEST else None
