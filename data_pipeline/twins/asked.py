"""What a question asks, as a clause: "who designed the bridge", "when it was opened", 谁设计了这座桥."""

import re

from data_pipeline.perturb.verbs_en import PAST, THIRD, past, third
from data_pipeline.text.words import words
from judge.types import Language

LONGEST = 22
"""Words of a question that a clause is made of; twice as many characters in Chinese."""
_BASES = frozenset(PAST.values()) | frozenset(THIRD.values())
_PARTICIPLES = frozenset(words("participles_en"))
_BE = ("is", "are", "was", "were")
_MODALS = ("can", "could", "will", "would", "should", "may", "might", "must")
_HAVE = ("has", "have", "had")
_DO = ("do", "does", "did")
_AUXILIARIES = (*_BE, *_MODALS, *_HAVE, *_DO)
_WHAT = re.compile(
    r"(?:(?:in|on|at|from|to|by|for|with|of|during|under|after|through) )?"
    r"(?:who|whom|whose|what|which|when|where|why|how)\b",
    re.I,
)
_NO_SUBJECT_END = ("the", "a", "an", "most", "of", "and", "or", "newly", "first", "second", "to", "been")
_AFTER = (
    "", "in", "on", "at", "by", "to", "from", "for", "with", "as", "of", "into", "during", "after", "before",
    "under", "over", "about", "against", "through", "between", "because", "when", "using", "near", "within",
)  # fmt: skip
"""What may follow a participle that is the verb of a question."""
_INNER = frozenset(
    (
        "who", "whom", "whose", "which", "when", "where", "why", "how", "what",
        "if", "because", "while", "whether", "that",
    )
)  # fmt: skip
"""Words that open a clause within a question: its first verb may not be the one asked for."""
_ASKS_ZH = re.compile(r"谁|什么|何|哪|几|多少|怎么|怎样|多[大长久高远深重宽]")
_NO_CLAUSE_ZH = re.compile(
    r"吗|是否|是不是|有没有|能否|可否|请|列举|简述|[，,]|[：:；;。！!]|[？?].|下列|以下|上述|如下"
)


def asked(question: str, language: Language) -> str | None:
    """The clause that a question asks for; ``None`` where rules are not sure of its form."""
    text = re.sub(r"\s+", " ", question).strip()
    if language == "zh":
        return _asked_zh(text)
    if not text.endswith("?") or re.search(r"[.?!:;] ", text):
        return None
    tokens = text.rstrip("? ").split(" ")
    what = _WHAT.match(text)
    if not what or len(tokens) > LONGEST or _INNER & {token.lower() for token in tokens[3:]}:
        return None
    tokens[0] = tokens[0][0].lower() + tokens[0][1:]
    place = next((number for number, token in enumerate(tokens) if number and token in _AUXILIARIES), None)
    verb = next(
        (number for number, token in enumerate(tokens) if number and (token in PAST or token in THIRD)), None
    )
    if place is None or (verb is not None and verb < place):
        # "who designed the bridge": nothing is turned round; a noun between would have to be sure to be one.
        return (
            " ".join(tokens)
            if verb is not None and verb <= 2 and tokens[0] in ("who", "what", "which")
            else None
        )
    return _straight(tokens[:place], tokens[place], tokens[place + 1 :])


def _straight(what: list[str], auxiliary: str, rest: list[str]) -> str | None:
    """The clause with its subject in front of the auxiliary; ``what`` is the question word and its noun."""
    if not rest or (len(what) > 1 and what[0] in ("who", "where", "when", "why")):
        return None
    if rest[0] == "there" or re.match(r"[a-z]+ly$|sometimes$|often$", rest[0]):
        return None
    if "being" in rest or "not" in rest or (auxiliary in _DO and "to" in rest[:-1]):
        return None
    if auxiliary in _DO:
        verbs = [number for number, token in enumerate(rest) if token in _BASES]
        if len(verbs) != 1 or verbs[0] == 0 or rest[verbs[0] - 1] in _NO_SUBJECT_END:
            return None
        number = verbs[0]
        verb = rest[number]
        form = past(verb) if auxiliary == "did" else third(verb) if auxiliary == "does" else verb
        return " ".join([*what, *rest[:number], form, *rest[number + 1 :]])
    if auxiliary in _MODALS:
        verbs = [number for number, token in enumerate(rest) if token in ("be", *_BASES)]
        if not verbs or (verbs[0] > 0 and len(verbs) > 1):
            return None
        at = verbs[0]
    else:
        verbs = [number for number, token in enumerate(rest) if _is_participle(token)]
        if not verbs:
            return _copula(what, auxiliary, rest)
        if len(verbs) > 1 and verbs[0] > 0:
            return None
        at = verbs[0]
    before, after = [*rest[:at], ""][at - 1 if at else -1].lower(), [*rest, ""][at + 1]
    if at and (before in _NO_SUBJECT_END or (auxiliary in (*_BE, *_HAVE) and after not in _AFTER)):
        return None  # "the united states", "the second reported case": no verb of the question
    if at and what == ["what"] and after == "to":
        return None  # "what a test was done to simulate"
    if what == ["who"] and at > 0 and auxiliary in _BE:
        return None
    return " ".join([*what, *rest[:at], auxiliary, *rest[at:]])


def _copula(what: list[str], auxiliary: str, rest: list[str]) -> str | None:
    """ "what the capital of France is"; of what comes after a preposition at the end nobody can be sure."""
    if auxiliary not in _BE or not re.match(r"(?:the|a|an|its|his|her|their)$|[A-Z]", rest[0]):
        return None
    if (
        len(rest) > 9
        or re.search(r"(?:ing|ly)$", rest[-1])
        or rest[-1] in ("of", "to", "for", "in", "on", "at", "by", "like")
    ):
        return None
    if what == ["who"]:
        return " ".join([*what, auxiliary, *rest])
    if len(what) > 1 and what[0] != "how":
        return " ".join([*what, auxiliary, *rest]) if rest[0] in ("a", "an") else None
    if what[0] not in ("what", "where", "how"):
        return None
    return " ".join([*what, *rest, auxiliary])


def _is_participle(token: str) -> bool:
    return token in _PARTICIPLES or bool(re.fullmatch(r"[a-z]{3,}ed", token))


def _asked_zh(text: str) -> str | None:
    clause = re.sub(r"^请问[,，]?", "", text).rstrip("？? ")
    clause = re.sub(r"[呢呀啊]$", "", clause)
    if not text.endswith(("？", "?")) or not _ASKS_ZH.search(clause) or _NO_CLAUSE_ZH.search(clause):
        return None
    return clause if 4 <= len(clause) <= 2 * LONGEST else None
