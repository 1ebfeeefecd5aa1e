"""Texts as words and values: ``Eight`` and ``8`` are the same token, and so are ``1,024`` and ``1024``."""

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal

Token = str | Decimal

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

# Words without content of their own.
_FUNCTION_WORDS = {
    "an", "and", "are", "as", "at", "be", "been", "by", "did", "do", "does", "for", "from", "had",
    "has", "have", "he", "her", "his", "in", "is", "it", "its", "new", "no", "not", "of", "on", "or",
    "our", "she", "so", "some", "that", "the", "their", "them", "there", "they", "this", "to", "was",
    "we", "were", "what", "when", "where", "which", "who", "will", "with", "yes", "you",
}  # fmt: skip

_WORD = "(?:" + "|".join([*_SMALL, "hundred", *_SCALES]) + ")"
_RUN = re.compile(rf"\b{_WORD}(?:(?:\s+and\s+|\s+|-){_WORD})*\b")
_SCALED = re.compile(rf"(?<![0-9,])([0-9][0-9,]{{0,20}}(?:\.[0-9]+)?)\s+({'|'.join(_SCALES)})\b")
_MINUS = re.compile(r"\b(?:minus|negative)\s+(?=[0-9])")
_NUMBER = (
    r"(?:(?<![\w)])-)?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|(?<!\w)\.[0-9]+)"
)
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|[^\W\d_]+")
# "No one knows" contains no number.
_PRONOUN = re.compile(r"\b(?:no|any|every|each|some|which|this|that|the|another)\s+$")


def tokenize(text: str) -> list[Token]:
    """The words of a text in lower case without accents, and its numbers by value.

    Numbers come from digits, with or without thousands separators, and from English words up to trillions,
    years such as ``nineteen forty-five`` included. ``2x`` is a number and a word.
    """
    decomposed = unicodedata.normalize("NFKD", text.lower().replace("\u2212", "-"))
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    plain = _SCALED.sub(lambda match: str(_decimal(match[1]) * _SCALES[match[2]]), plain)
    plain = _MINUS.sub("-", _RUN.sub(_digits, plain))
    return [
        _decimal(match[0]) if match["number"] is not None else match[0] for match in _TOKEN.finditer(plain)
    ]


def contains(running: Sequence[Token], wanted: Sequence[Token], tolerance: float = 0.0) -> bool:
    """Do the tokens ``wanted`` occur consecutively in ``running``? ``tolerance``: see :func:`same`."""
    return any(
        all(
            same(found, want, tolerance)
            for found, want in zip(running[at : at + len(wanted)], wanted, strict=True)
        )
        for at in range(len(running) - len(wanted) + 1)
    )


def same(found: Token, wanted: Token, tolerance: float = 0.0) -> bool:
    """Are two tokens the same? Words must be equal, numbers must have equal values.

    A ``wanted`` number with decimals may be missed by ``tolerance`` of its value, so that 3.14 matches
    3.1416. An integer must be exact: 2021 is close to 2022, but the wrong year.
    """
    if not isinstance(found, Decimal) or not isinstance(wanted, Decimal):
        return found == wanted
    if wanted == wanted.to_integral_value():
        return found == wanted
    return abs(found - wanted) <= Decimal(repr(tolerance)) * abs(wanted)


def added(text: str, known: str) -> list[Token]:
    """The numbers and content words of ``text`` not in ``known``; words match by their first five letters."""
    before = tokenize(known)
    stems = {token[:5] for token in before if isinstance(token, str)}

    def is_new(token: Token) -> bool:
        if isinstance(token, str):
            return len(token) > 1 and token not in _FUNCTION_WORDS and token[:5] not in stems
        return token not in before

    return [token for token in tokenize(text) if is_new(token)]


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _digits(run: re.Match[str]) -> str:
    """Consecutive number words, as digits."""
    words = [word for word in re.split(r"[\s-]+", run[0]) if word != "and"]
    before = run.string[max(0, run.start() - 12) : run.start()]
    if words == ["one"] and (_PRONOUN.search(before) or run.string.startswith(" of ", run.end())):
        return run[0]
    return " ".join(str(value) for value in _values(words))


def _values(words: Sequence[str]) -> list[int]:
    """The numbers in a run of number words: ``nineteen forty five`` is one, ``two two`` are two."""
    values: list[int] = []
    total, group, room = 0, 0, 100  # complete thousands; the group being read; limit of the next small number
    for word in words:
        if word in _SCALES:
            total, group, room = total + (group or 1) * _SCALES[word], 0, 100
        elif word == "hundred":
            if group >= 100:
                values.append(total + group)
                total = group = 0
            group, room = (group or 1) * 100, 100
        else:
            small = _SMALL[word]
            if small >= room and not total and 10 <= group <= 20 and small >= 10:  # the halves of a year
                group *= 100
            elif small >= room:
                values.append(total + group)
                total = group = 0
            group += small
            room = 10 if small >= 20 else 0
    return [*values, total + group]
